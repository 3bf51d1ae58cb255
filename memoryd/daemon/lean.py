"""What libraries import on the way and the service never uses stays out of its memory.

structlog imports rich (for coloured output) and asyncio (for loggers of coroutines), SQLAlchemy and
APScheduler asyncio again, APScheduler multiprocessing (for pools of processes): together a sixth of
what the idle service would hold.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Iterator, Mapping
from concurrent.futures import BrokenExecutor
from contextlib import contextmanager
from importlib import import_module
from types import ModuleType
from typing import Any, cast

OPTIONAL = ("rich",)
"""Importers get on without it."""


def _no_task() -> None:
    raise RuntimeError("no running event loop")


UNTOUCHED: Mapping[str, Mapping[str, object]] = {
    "asyncio": {
        "current_task": _no_task,  # asked for by log records
        "iscoroutine": inspect.iscoroutine,
        "iscoroutinefunction": inspect.iscoroutinefunction,
    },
    "concurrent.futures.process": {"BrokenProcessPool": BrokenExecutor},
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
