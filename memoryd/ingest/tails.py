"""Unterminated last lines: how many bytes they are, and when one is tried as a whole line."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class _Tail:
    """An unterminated last line.

    Attributes:
        count: its bytes.
        due: when to try whether it parses whole; ``None`` after it did not.
    """

    count: int
    due: float | None


class Tails:
    """The unterminated last lines of all files, by relative path.

    Args:
        quiet_s: how long one must have been left alone before it is tried, in seconds.
    """

    def __init__(self, quiet_s: float) -> None:
        self._quiet_s = quiet_s
        self._tails: dict[str, _Tail] = {}

    @property
    def bytes(self) -> int:
        """Bytes of all of them."""
        return sum(tail.count for tail in list(self._tails.values()))

    def instants(self) -> list[float]:
        """Return when tails are due."""
        return [tail.due for tail in self._tails.values() if tail.due is not None]

    def found(self, relative: str, count: int, now: float, *, tried: bool) -> None:
        """Note that a file that changed ends in ``count`` unterminated bytes."""
        if count:
            due = None if tried else now + self._quiet_s
            self._tails[relative] = _Tail(count, due)
        else:
            self.forget(relative)

    def still(self, relative: str, count: int, since: float | None) -> None:
        """Note that a file is as it was; its tail may be known from an earlier process."""
        if not count or since is None:
            self.forget(relative)
        elif relative not in self._tails:
            self._tails[relative] = _Tail(count, since + self._quiet_s)

    def take_due(self, now: float) -> list[str]:
        """Return the files whose tails are due; each is tried once until the file changes."""
        due = [path for path, tail in self._tails.items() if tail.due is not None]
        due = [path for path in due if (self._tails[path].due or 0.0) <= now]
        for path in due:
            self._tails[path] = _Tail(self._tails[path].count, None)
        return due

    def hasten(self, latest: float) -> None:
        """Let no tail wait beyond the instant ``latest``."""
        for path, tail in self._tails.items():
            if tail.due is not None and tail.due > latest:
                self._tails[path] = _Tail(tail.count, latest)

    def forget(self, relative: str) -> None:
        """Drop what is known of a file."""
        self._tails.pop(relative, None)
