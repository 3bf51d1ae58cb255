"""A worker in a process of its own: claims one job, says so, and finishes it when told to.

Arguments: the database's URL, the time. Lines on stdout: the worker's name and the job's id, then
how finishing went.
"""

import sys
from random import Random

from memoryd.clock import ManualClock
from memoryd.db.engine import Database
from memoryd.db.schema import meta
from memoryd.errors import LeaseLost
from memoryd.queue.identity import WorkerName
from memoryd.queue.jobs import Done
from memoryd.queue.queue import Queue
from sqlalchemy import Connection


def effects(connection: Connection) -> None:
    connection.execute(meta.insert().values(key="effect of the child", value=1))


def main() -> None:
    url, now = sys.argv[1:]
    queue = Queue(Database.open(url), ManualClock(float(now)), Random(1))
    name = str(WorkerName.current("child"))
    job = queue.claim(name, lease_s=60.0)
    sys.stdout.write(f"{name} {job.id if job else None}\n")
    sys.stdout.flush()
    sys.stdin.readline()
    if job is None:
        return
    try:
        queue.finish(job, Done(effects))
    except LeaseLost:
        sys.stdout.write("lease lost\n")
    else:
        sys.stdout.write("done\n")


if __name__ == "__main__":
    main()
