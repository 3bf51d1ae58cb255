"""Cues in Chinese: which sentences ask to remember, order, correct or inform."""

from memoryd.extraction.offline.chinese.reader import CHINESE, read

__all__ = ["CHINESE", "read"]
