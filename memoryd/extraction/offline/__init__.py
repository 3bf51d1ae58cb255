"""Memories by rule from what a person typed, without a model."""
