"""What is given back: ranking and presentation. Pure."""
