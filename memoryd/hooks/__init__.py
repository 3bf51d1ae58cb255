"""What the client's hooks say, and what they are answered. Pure."""
