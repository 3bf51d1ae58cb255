"""The table of what can be asked on the socket."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from memoryd.daemon.calls import Call, Method
from memoryd.daemon.hooking import Hooking
from memoryd.daemon.keeping import Keeping
from memoryd.daemon.metering import Metering
from memoryd.daemon.pausing import Pausing
from memoryd.daemon.recalling import Recalling
from memoryd.daemon.reporting import Reporting
from memoryd.daemon.summaries import Summaries
from memoryd.daemon.waiting import Waiting
from memoryd.guide import GUIDE
from memoryd.protocol import MethodName


def methods(
    *,
    hooking: Hooking,
    keeping: Keeping,
    metering: Metering,
    pausing: Pausing,
    recalling: Recalling,
    reporting: Reporting,
    summaries: Summaries,
    waiting: Waiting,
    shutdown: Callable[[], None],
) -> list[Method]:
    """Return every method with its handler; each `MethodName` has one."""

    def tell_guide(call: Call) -> dict[str, Any]:
        del call
        return {"text": GUIDE}

    def shut_down(call: Call) -> dict[str, Any]:
        del call
        shutdown()
        return {}

    return [
        Method(MethodName.HELLO, reporting.hello, inline=True),
        Method(MethodName.STATUS, reporting.status),
        Method(MethodName.WAIT, waiting, waits=True),
        Method(MethodName.RECALL, metering.recall(recalling)),
        Method(MethodName.RECALL_START, recalling.start),
        Method(MethodName.RECALL_COLLECT, recalling.collect),
        Method(MethodName.REMEMBER, keeping.remember),
        Method(MethodName.FORGET, keeping.forget),
        Method(MethodName.LIST, keeping.listing),
        Method(MethodName.SHOW, keeping.show),
        Method(MethodName.LOG, keeping.log),
        Method(MethodName.UNDO, keeping.undo),
        Method(MethodName.GUIDE, tell_guide, inline=True),
        Method(MethodName.SUMMARY, summaries.summary),
        Method(MethodName.SEARCH, reporting.search),
        Method(MethodName.SESSIONS, reporting.sessions),
        Method(MethodName.PROJECTS, reporting.projects),
        Method(MethodName.JOBS_LIST, reporting.jobs_list),
        Method(MethodName.JOBS_SHOW, reporting.jobs_show),
        Method(MethodName.JOBS_WHY, reporting.jobs_why),
        Method(MethodName.JOBS_RETRY, reporting.jobs_retry),
        Method(MethodName.JOBS_CANCEL, reporting.jobs_cancel),
        Method(MethodName.PAUSE, pausing.pause),
        Method(MethodName.RESUME, pausing.resume),
        Method(MethodName.HOOK, hooking),
        Method(MethodName.METRICS, metering),
        Method(MethodName.SHUTDOWN, shut_down, inline=True),
    ]
