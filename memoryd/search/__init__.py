"""Full-text search over what was said."""
