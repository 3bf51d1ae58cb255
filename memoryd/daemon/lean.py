"""What libraries import on the way and the service never uses stays out of its memory.

structlog imports rich (for coloured output) and asyncio (for loggers of coroutines), SQLAlchemy and
APScheduler asyncio again, APScheduler multiprocessing (for pools of processes), SQLAlchemy hashlib
and with it OpenSSL, both importlib.metadata (for plugins) and with it email and zipfile. All do so
at their top, however little of them is imported: nothing but this keeps it out. Together it is 12
MiB, a fifth of what the service would hold without any data.

Its limit: a version of a library that needs another part gets the real module, and the memory is
lost, or fails to import, and the service starts without this. A test tells.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import BrokenExecutor
from contextlib import contextmanager
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType
from typing import Any, cast

_HASHES = ("_md5", "_sha1", "_sha3", "_sha2" if sys.version_info >= (3, 12) else "_sha256")
OPTIONAL = ("rich", "_hashlib") if all(map(find_spec, _HASHES)) else ("rich",)
"""Importers get on without it: ``hashlib`` without OpenSSL, where Python has hashes of its own."""


def _no_task() -> None:
    raise RuntimeError("no running event loop")


class _NotInstalled(Exception):  # noqa: N818 - stands for PackageNotFoundError
    pass


def _no_version(name: str) -> str:
    raise _NotInstalled(name)


def _no_plugins(**group: str) -> Iterable[Any]:
    """Answer APScheduler, which asks by group for names of triggers: `Schedule` gives objects."""
    return () if group else import_module("importlib.metadata").entry_points()


UNTOUCHED: Mapping[str, Mapping[str, object]] = {
    "asyncio": {
        "current_task": _no_task,  # asked for by log records
        "iscoroutine": inspect.iscoroutine,
        "iscoroutinefunction": inspect.iscoroutinefunction,
    },
    "concurrent.futures.process": {"BrokenProcessPool": BrokenExecutor},
    "importlib.metadata": {
        "entry_points": _no_plugins,
        "version": _no_version,  # APScheduler bears not to know its own
        "PackageNotFoundError": _NotInstalled,
    },
    # structlog makes a log record, which asks for the process and bears that there is none.
    "multiprocessing": {"current_process": lambda: None},
}
"""Importers need the name and these parts alone."""


class _StandIn(ModuleType):
    """Stands for a module until somebody touches more of it than is here.

    The standard library's lazy loader cannot do this: an ``import`` statement touches a module that
    is there already, and so loads it.
    """

    def __getattr__(self, name: str) -> Any:
        if name == "__path__":  # asked whether it is a package, by every ``from``
            raise AttributeError(name)
        if sys.modules.get(self.__name__) is self:
            del sys.modules[self.__name__]
        return getattr(import_module(self.__name__), name)


@contextmanager
def lean_imports() -> Iterator[None]:
    """Import within without `OPTIONAL`, and with stand-ins for `UNTOUCHED`.

    Afterwards only the importers have the stand-ins: everybody else gets the modules themselves.

    Raises:
        ImportError: an importer needs more of them than it used to: import without this.
    """
    stand_ins: dict[str, ModuleType] = {}
    for name in OPTIONAL:
        stand_ins[name] = cast("ModuleType", None)  # how Python writes down that there is none
    for name, parts in UNTOUCHED.items():
        stand_ins[name] = _StandIn(name)
        vars(stand_ins[name]).update(parts)
    for name in stand_ins.keys() & sys.modules.keys():
        del stand_ins[name]
    sys.modules.update(stand_ins)
    try:
        yield
    finally:
        for name, stand_in in stand_ins.items():
            if sys.modules.get(name, stand_in) is stand_in:
                sys.modules.pop(name, None)
