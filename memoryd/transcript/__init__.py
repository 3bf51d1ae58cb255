"""Bytes of a transcript to records, turns and what was said. Pure."""
