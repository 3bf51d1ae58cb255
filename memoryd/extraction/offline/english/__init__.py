"""Cues in English: which sentences ask to remember, order, correct or inform."""

from memoryd.extraction.offline.english.reader import ENGLISH, read

__all__ = ["ENGLISH", "read"]
