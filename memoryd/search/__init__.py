"""Full-text search over what was said."""

from memoryd.search.index import Entry, Hit, TextIndex

__all__ = ["Entry", "Hit", "TextIndex"]
