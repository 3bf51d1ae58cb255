"""Instructions for a model: which files load where, in which order, and why."""
