"""The job that learns: every turn once, no matter what stands where in the meantime."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

import pytest
from memoryd.db.engine import Database
from memoryd.extraction.offline.provider import propose
from memoryd.extraction.operations import ExtractionInput, Operation
from memoryd.jobs.extract import TURNS_AT_ONCE, Extract
from memoryd.memory.library import MemoryLibrary
from memoryd.queue.heartbeats import Held
from memoryd.queue.jobs import Done, Job, JobState, Snooze, TransientFailure
from memoryd.queue.worker import JobContext
from memoryd.stores.journal import SqlJournal

from support.ingest import Bench, prompt, reply

LEASE_S = 60.0


@dataclass
class Learner:
    """Ingestion and the job over one home; a test runs the jobs itself."""

    bench: Bench
    proposer: Callable[[ExtractionInput], list[Operation]] = propose
    said: int = field(default=0)
    withheld: set[str] = field(default_factory=set)

    @property
    def journal(self) -> SqlJournal:
        return SqlJournal(self.bench.database)

    def library(self) -> MemoryLibrary:
        return MemoryLibrary(
            config=self.bench.paths.config,
            home=self.bench.paths.home,
            managed=None,
            environ={},
            always=True,
            journal=self.journal,
            clock=self.bench.clock,
            rng=Random(1),
        )

    def say(self, *texts: str, cwd: str, name: str = "s") -> None:
        for text in texts:
            self.said += 1
            uuid = f"u{self.said}"
            self.bench.append(
                prompt(uuid, text, cwd=cwd) + reply(f"{uuid}-a", "Noted.", cwd=cwd), name=name
            )
        self.bench.scan()

    def claim(self) -> Job | None:
        self.bench.queue.make_due(self.bench.clock.now())
        return self.bench.queue.claim("w", lease_s=LEASE_S)

    def handle(self, job: Job) -> Done | Snooze:
        extract = Extract(
            database=self.bench.database,
            queue=self.bench.queue,
            library=self.library(),
            journal=self.journal,
            transcripts=self.bench.projects,
            propose=self.proposer,
            clock=self.bench.clock,
            withheld=self.withheld.intersection,
        )
        outcome = extract(JobContext(job, self.bench.clock, Held(job)), job)
        assert isinstance(outcome, Done | Snooze)
        return outcome

    def run(self) -> int:
        """Run the jobs that are due until there are none; return how many ran."""
        count = 0
        while (job := self.claim()) is not None:
            try:
                self.bench.queue.finish(job, self.handle(job))
            except Exception as error:  # noqa: BLE001 - as a worker takes it
                self.bench.queue.fail(job, error)
            count += 1
        return count

    def memories(self, cwd: str) -> list[str]:
        directory = self.library().store(cwd).directory
        return sorted(path.stem for path in directory.glob("*.md") if path.stem != "MEMORY")

    def facts(self, cwd: str) -> dict[str, str]:
        directory = self.library().store(cwd).directory
        return {name: (directory / f"{name}.md").read_text() for name in self.memories(cwd)}

    def states(self) -> list[str]:
        return [state for (state,) in self.bench.turns("state")]


@pytest.fixture
def learner(tmp_path: Path, sqlite_database: Database) -> Learner:
    return Learner(Bench(tmp_path, sqlite_database))


def test_a_backlog_of_requests_is_kept_whole(learner: Learner) -> None:
    """One batch takes twenty operations; the turns beyond that come with the next."""
    number = TURNS_AT_ONCE + 5
    learner.say(
        *(f"Remember that the server node{n} lives in rack {n}." for n in range(number)),
        cwd="/nowhere/farm",
    )
    learner.run()

    assert len(learner.memories("/nowhere/farm")) == number
    assert set(learner.states()) == {"handled"}


def test_nothing_is_learned_from_a_session_that_withholds(learner: Learner) -> None:
    learner.withheld = {"off"}
    learner.say("Remember that the server oak lives in rack 7.", cwd="/nowhere/farm", name="off")
    learner.say("Remember that the server elm lives in rack 8.", cwd="/nowhere/farm", name="on")
    learner.run()
    (fact,) = learner.facts("/nowhere/farm").values()
    assert "elm" in fact
    assert set(learner.states()) == {"handled"}


def test_projects_that_share_a_directory_do_not_share_memories(learner: Learner) -> None:
    one, other = "/nowhere/x-y", "/nowhere/x/y"
    learner.say("Remember that the staging database listens on port 6543.", cwd=one, name="a")
    learner.run()
    learner.say("Remember that the staging database listens on port 6543.", cwd=other, name="b")
    learner.run()
    learner.say(
        "Remember that the staging database listens on port 7777, no longer 6543.",
        cwd=other,
        name="b",
    )
    learner.run()

    directory = str(learner.library().store(one).directory)
    origins = {name: root for name, (root, _) in learner.journal.origins(directory).items()}
    assert sorted(origins.values()) == [one, other]
    kept = {origins[name]: text for name, text in learner.facts(one).items()}
    assert "port 6543." in kept[one]
    assert "7777" not in kept[one]
    assert "7777" in kept[other]


def test_what_was_taken_away_after_a_crash_is_not_learned_again(learner: Learner) -> None:
    """The job applied and died; before it ran again a person removed the memory."""
    cwd = "/nowhere/app"
    learner.say("Remember that the mail relay is in rack 12.", cwd=cwd)
    job = learner.claim()
    assert job is not None
    learner.handle(job)
    (name,) = learner.memories(cwd)
    (learner.library().store(cwd).directory / f"{name}.md").unlink()
    learner.bench.queue.release(job)
    learner.run()

    assert learner.memories(cwd) == []
    assert learner.states() == ["handled"]
    last = learner.journal.entries(limit=1)[0]
    assert last.reason == "what was made of this evidence was taken back since"


def test_a_transcript_moved_behind_the_reader_s_back_is_waited_for(learner: Learner) -> None:
    cwd = "/nowhere/app"
    learner.say("Remember that the mail relay is in rack 12.", cwd=cwd)
    (learner.bench.projects / "-nowhere-app").rename(learner.bench.projects / "-moved")
    learner.run()
    assert learner.states() == ["ended"]

    learner.bench.scan()
    learner.bench.manual.advance(1000)
    learner.run()
    assert learner.memories(cwd) == ["mail-relay"]


def test_a_deleted_transcript_is_not_waited_for(learner: Learner) -> None:
    learner.say("Remember that the mail relay is in rack 12.", cwd="/nowhere/app")
    learner.bench.file().unlink()
    learner.bench.scan()
    learner.run()

    assert learner.states() == ["handled"]
    assert learner.bench.jobs("state") == [("done",)]


def test_turns_wait_while_the_projects_directory_is_away(learner: Learner) -> None:
    cwd = "/nowhere/app"
    learner.say("Remember that the mail relay is in rack 12.", cwd=cwd)
    away = learner.bench.projects.with_name("away")
    learner.bench.projects.rename(away)
    job = learner.claim()
    assert job is not None
    outcome = learner.handle(job)
    assert isinstance(outcome, Snooze)
    assert str(learner.bench.projects) in outcome.reason
    learner.bench.queue.finish(job, outcome)

    away.rename(learner.bench.projects)
    learner.bench.manual.advance(1000)
    learner.run()
    assert learner.memories(cwd) == ["mail-relay"]


def test_a_transcript_that_cannot_be_read_holds_up_no_other(
    learner: Learner, monkeypatch: pytest.MonkeyPatch
) -> None:
    cwd = "/nowhere/app"
    learner.say("Remember that the mail relay is in rack 12.", cwd=cwd, name="locked")
    learner.say("Remember that the pager rota is weekly.", cwd=cwd, name="open")
    locked = str(learner.bench.file("locked"))
    really = os.open

    def refuse(path: str, *rest: int, **more: int) -> int:
        # Permission bits do not bind root, who may run the tests.
        if path == locked:
            raise PermissionError(13, "Permission denied", path)
        return really(path, *rest, **more)

    with monkeypatch.context() as patch:
        patch.setattr(os, "open", refuse)
        learner.run()
    assert learner.memories(cwd) == ["pager-rota"]
    assert sorted(learner.states()) == ["ended", "handled"]
    ((snoozed, error),) = learner.bench.jobs("snoozed", "error")
    assert snoozed
    assert locked in error

    learner.bench.manual.advance(1000)
    learner.run()
    assert learner.memories(cwd) == ["mail-relay", "pager-rota"]


def test_a_turn_that_breaks_the_extractor_is_passed_over_in_the_end(learner: Learner) -> None:
    cwd = "/nowhere/app"

    def breaks(given: ExtractionInput) -> list[Operation]:
        if any("bomb" in turn.human.text for turn in given.turns):
            raise RecursionError
        return propose(given)

    learner.proposer = breaks
    learner.say("A bomb.", "Remember that the mail relay is in rack 12.", cwd=cwd)
    while JobState.QUEUED in {JobState(state) for (state,) in learner.bench.jobs("state")}:
        learner.bench.manual.advance(1000)
        learner.run()

    assert learner.memories(cwd) == ["mail-relay"]
    assert learner.states() == ["handled", "handled"]
    assert learner.bench.jobs("state", "result") == [
        ("done", {"turns": 2, "failed": 1, "created": ["mail-relay"]})
    ]


def test_a_transcript_of_another_client_directory_fails_softly(learner: Learner) -> None:
    learner.say("Remember that the mail relay is in rack 12.", cwd="/nowhere/app")
    job = learner.claim()
    assert job is not None
    learner.bench.projects = learner.bench.paths.home / "elsewhere"
    learner.bench.projects.mkdir()
    with pytest.raises(TransientFailure, match="is not below"):
        learner.handle(job)
