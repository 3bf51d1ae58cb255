"""Secrets and private passages out of text, before it goes anywhere. Pure."""
