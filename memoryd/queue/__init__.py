"""Durable jobs: what they are, the SQL that moves them, the loop that runs them."""
