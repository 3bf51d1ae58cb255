"""What the database remembers, one module per subject."""
