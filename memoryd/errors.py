"""Every error that memoryd raises on purpose: what went wrong, where, and what to do next."""

from __future__ import annotations


class MemorydError(Exception):
    """Something went wrong.

    Attributes:
        hint: the next step for the person who reads the message, or an empty string.
    """

    def __init__(self, message: str = "", *, hint: str = "") -> None:
        super().__init__(message or (type(self).__doc__ or "").partition("\n")[0])
        self.hint = hint


class ConfigError(MemorydError):
    """A setting cannot be used."""


class AlreadyRunning(MemorydError):  # noqa: N818 - a state of the world, named as the user meets it
    """Another instance serves this directory."""


class UnsafePath(MemorydError):  # noqa: N818 - as above
    """A path leads where memoryd must not read or write."""


class MemoryConflict(MemorydError):  # noqa: N818 - as above
    """A memory changed between reading and writing it; what is on disk was kept."""


class MemoryBusy(MemorydError):  # noqa: N818 - as above
    """The memory directory is locked by another writer."""


class DatabaseBusy(MemorydError):  # noqa: N818 - as above
    """Another program holds the database locked; nothing was changed."""


class DatabaseGone(MemorydError):  # noqa: N818 - as above
    """The database file was removed or replaced while it was open; nothing was changed."""


class LeaseLost(MemorydError):  # noqa: N818 - as above
    """The job belongs to another worker now; this result is discarded."""


class NotFound(MemorydError):  # noqa: N818 - as above
    """There is nothing of that name."""


class ServiceNotRunning(MemorydError):  # noqa: N818 - as above
    """The service does not answer on its socket."""


class ProtocolError(MemorydError):
    """A request or an answer on the socket was refused.

    Attributes:
        code: the JSON-RPC error code (``memoryctl help protocol`` lists them).
    """

    def __init__(self, message: str, *, code: int, hint: str = "") -> None:
        super().__init__(message, hint=hint)
        self.code = code
