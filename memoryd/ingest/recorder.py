"""Portions of transcripts to rows and jobs, in one transaction."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Any, assert_never

from sqlalchemy import Connection

from memoryd.admission import Admission, Refusal
from memoryd.ingest.classify import SessionFile, SubagentFile
from memoryd.ingest.filerows import (
    FileEnd,
    baseline_to,
    columns,
    each_once,
    new_row,
    session_of,
)
from memoryd.ingest.growing import end_growth
from memoryd.ingest.reader import Portion
from memoryd.ingest.refusing import Gate, untitle, withhold
from memoryd.ingest.turns import Ended, Met, TurnRows, TurnWriter
from memoryd.queue.queue import Queue
from memoryd.queue.requests import extract_job, session_memory_job
from memoryd.redaction import clean
from memoryd.stores import projects, transcripts, turns
from memoryd.stores.projects import Project
from memoryd.stores.transcripts import File, FileKind, TurnState
from memoryd.stores.turns import Turn
from memoryd.transcript.events import (
    Activity,
    AssistantText,
    Compacted,
    EndReason,
    Event,
    HumanPrompt,
    SessionStarted,
    TurnEnded,
)

_TITLE_CHARACTERS = 200


@dataclass(slots=True)
class Said:
    """Texts of one file that are new to memoryd, for the text index.

    Attributes:
        portion: where they stand.
        file_id: row id of the file.
        entries: the texts with the roots of their projects, in file order.
    """

    portion: Portion
    file_id: int
    entries: list[tuple[HumanPrompt | AssistantText, Project]] = field(default_factory=list)


@dataclass(slots=True)
class Recorded:
    """What one transaction did.

    Attributes:
        said: one item per session file, in the order of the portions.
        quiet: files whose open turn changed: when it ends by silence, ``None`` if none is open.
        sessions: new sessions.
        turns: new turns.
        foreign: change of the number of foreign files.
    """

    said: list[Said] = field(default_factory=list)
    quiet: dict[int, float | None] = field(default_factory=dict)
    sessions: int = 0
    turns: int = 0
    foreign: int = 0


class Recorder:
    """Writes what was read.

    Args:
        queue: where extraction is asked for.
        is_request: whether a prompt (redacted) asks in so many words to remember or forget.
        quiet_s: silence that ends a turn, in seconds.
        tool_quiet_s: the same while a tool call is open.
        notice_s: the same after a hook said that the turn has ended: the client may still be
            writing the last message.
        debounce_s: how long extraction waits for more turns of the project.
        deadline_s: how long it waits at most.
        admission: what may be taken in, asked for each transaction.
    """

    def __init__(
        self,
        queue: Queue,
        is_request: Callable[[str], bool],
        *,
        quiet_s: float,
        tool_quiet_s: float,
        notice_s: float,
        debounce_s: float,
        deadline_s: float,
        admission: Callable[[], Admission] = Admission,
    ) -> None:
        self._queue = queue
        self._admission = admission
        self._debounce_s = debounce_s
        self._deadline_s = deadline_s
        self._is_request = is_request
        self._quiet_s = quiet_s
        self._tool_quiet_s = tool_quiet_s
        self._notice_s = notice_s
        self._noticed: set[int] = set()

    def record(self, connection: Connection, portions: Sequence[Portion], now: float) -> Recorded:
        """Write portions: cursors, sessions, projects, turns, uuids and jobs.

        Args:
            connection: inside a write that commits all of it or nothing.
            portions: at most one of each file.
            now: seconds since 1970 UTC.
        """
        met = Met(
            connection,
            {
                event.uuid
                for portion in portions
                if isinstance(portion.what, SessionFile)
                for event in portion.said
            },
        )
        admission = self._admission()
        gate = Gate(connection, admission) if admission.refuses_something else None
        batch = _Batch(connection, now, met, gate)
        batch.prepare(portions)
        files = [self._record_file(batch, portion) for portion in portions]
        batch.rows.write(connection)
        for rows in each_once(batch.sessions):
            batch.result.sessions += transcripts.put_sessions(connection, rows)
        transcripts.update_files(connection, [columns(file, now) for file in files])
        turns.add_keys(connection, met.fresh)
        self._ask_for_extraction(connection, batch.ended)
        self._ask_for_summaries(connection, batch.grown)
        return batch.result

    def end_quiet(self, connection: Connection, *, due: float | None) -> Recorded:
        """End the open turns whose silence is over at ``due``; all of them for ``None``."""
        result = Recorded()
        ended = Ended()
        silent = turns.open_turns(connection, due=due)
        for turn in silent:
            self._end(connection, turn, ended)
            result.quiet[turn.file_id] = None
        self._ask_for_extraction(connection, ended)
        if silent:
            grown = end_growth(connection, {turn.file_id: turn.project_id for turn in silent})
            self._ask_for_summaries(connection, grown)
        return result

    def notice(self, connection: Connection, session_id: str, now: float) -> Recorded:
        """Take it that the open turn of a session ends as soon as its last message is written."""
        result = Recorded()
        for turn in turns.open_turns(connection, session_id=session_id):
            quiet_at = now + self._notice_s
            turns.set_quiet(connection, turn.id, quiet_at)
            self._noticed.add(turn.file_id)
            result.quiet[turn.file_id] = quiet_at
        return result

    def hasten(self, connection: Connection, latest: float) -> Recorded:
        """Let no open turn wait beyond the instant ``latest``."""
        result = Recorded()
        for turn in turns.open_turns(connection):
            if turn.quiet_at is not None and turn.quiet_at > latest:
                turns.set_quiet(connection, turn.id, latest)
                result.quiet[turn.file_id] = latest
        return result

    def _end(self, connection: Connection, turn: Turn, ended: Ended) -> None:
        noticed = turn.file_id in self._noticed
        self._noticed.discard(turn.file_id)
        reason = EndReason.NOTICE if noticed else EndReason.QUIET
        turns.end_turn(connection, turn.id, reason)
        ended.add(turn.project_id, turn.explicit)

    def _record_file(self, batch: _Batch, portion: Portion) -> FileEnd:
        """Follow what one portion says; return what its file's row is to become."""
        old = batch.row(portion)
        if portion.moved:
            transcripts.move_file(batch.connection, old, portion.path, session_of(portion))
        if portion.restart:
            left = turns.open_turn_of(batch.connection, old.id)
            if left is not None:
                # What it points to is no longer there. If it is met again, it gets its new place.
                self._end(batch.connection, left, batch.ended)
                batch.result.quiet[old.id] = None
        end = FileEnd(portion, old, old.kind, baseline_to(old, portion), None)
        match portion.what:
            case SubagentFile():
                end.kind = FileKind.SUBAGENT
            case SessionFile(session=session_id):
                self._record_session(batch, end, session_id)
            case _:
                assert_never(portion.what)
        batch.result.foreign += (end.kind is FileKind.FOREIGN) - (old.kind is FileKind.FOREIGN)
        return end

    def _record_session(self, batch: _Batch, end: FileEnd, session_id: str) -> None:
        portion, old = end.portion, end.old
        began = old.kind is FileKind.SESSION or any(
            isinstance(event, SessionStarted) for event in portion.events
        )
        if not began:
            # Complete without a record of a session: somebody else's file, unless more comes.
            complete = portion.last and portion.offset > 0
            end.kind = FileKind.FOREIGN if complete else FileKind.UNKNOWN
            return
        end.kind = FileKind.SESSION
        said = Said(portion, old.id)
        prompts = self._follow(batch, end, said, session_id)
        batch.result.said.append(said)
        state = portion.session
        if batch.gate and batch.gate.hides_titles(portion):
            untitle(portion)
            if not said.entries:
                return
        known = state.cwd and not (batch.gate and batch.gate.excludes(state.cwd))
        project = batch.project(state.cwd, portion) if known else None
        if project and not state.own and state.growth.due_at > max(portion.start, end.baseline_to):
            batch.grown[session_id] = project.id
        batch.sessions.append(
            {
                "id": session_id,
                "file_id": old.id,
                "project_id": None if project is None else project.id,
                "title": clean(state.title)[:_TITLE_CHARACTERS],
                "started": state.started,
                "last": state.last,
                "headless": state.headless,
                "context_tokens": state.context_tokens,
                "conversation_tokens": state.conversation_tokens,
                "aliases": list(state.aliases),
                "state": "present",
                "turns": prompts,
                "recount": portion.restart,
            }
        )

    def _follow(self, batch: _Batch, end: FileEnd, said: Said, session_id: str) -> int:
        """Follow the events of a session; return how many prompts there are."""
        portion = end.portion
        writer = TurnWriter(
            batch.connection,
            file_id=said.file_id,
            session_id=session_id,
            turn=batch.turns.get(portion.progress.turn),
            ended=batch.ended,
            rows=batch.rows,
        )
        prompts = 0
        if batch.gate:
            batch.gate.enter()
        for event in portion.events:
            if batch.gate and (refusal := batch.gate.refusal(event, portion)) is not None:
                self._withhold(batch, writer, event, portion, refusal)
                continue
            match event:
                case Activity() | SessionStarted() | Compacted():  # nearly all of them
                    pass
                case HumanPrompt():
                    prompts += 1
                    self._meet(batch, said, writer, event, baseline_to=end.baseline_to)
                case AssistantText():
                    if batch.met.is_first(event.uuid):
                        said.entries.append((event, batch.project(event.cwd, portion)))
                case TurnEnded(reason=reason):
                    writer.end(reason)
                case _:
                    assert_never(event)
        quiet_at = batch.now + self._wait(portion, said.file_id)
        end.turn = writer.close(portion.offset, quiet_at=quiet_at)
        is_open = end.turn is not None and end.turn.state is TurnState.OPEN
        if not is_open or writer.begun:
            self._noticed.discard(said.file_id)
        batch.result.quiet[said.file_id] = quiet_at if is_open else None
        batch.result.turns += writer.begun
        return prompts

    def _withhold(
        self, batch: _Batch, writer: TurnWriter, event: Event, portion: Portion, refusal: Refusal
    ) -> None:
        project = None
        if isinstance(event, HumanPrompt) and refusal is Refusal.PAUSED:
            project = batch.project(event.cwd, portion)
        withhold(
            refusal,
            event,
            writer,
            batch.met,
            project=project,
            now=batch.now,
            reread_to=portion.progress.reread_to,
        )

    def _meet(
        self,
        batch: _Batch,
        said: Said,
        writer: TurnWriter,
        prompt: HumanPrompt,
        *,
        baseline_to: int,
    ) -> None:
        """Begin a turn, unless the prompt was met before."""
        if batch.met.is_first(prompt.uuid):
            project = batch.project(prompt.cwd, said.portion)
            said.entries.append((prompt, project))
            baseline = prompt.start < baseline_to
            explicit = not baseline and self._is_request(clean(prompt.text))
            at = prompt.at or batch.now
            writer.begin(prompt, project.id, at=at, baseline=baseline, explicit=explicit)
        elif prompt.uuid == writer.uuid:
            return
        elif prompt.start < said.portion.progress.reread_to:
            writer.take_up(prompt)
        else:
            # A copy of another session's history, or of this one's own.
            writer.leave(prompt.start)

    def _wait(self, portion: Portion, file_id: int) -> float:
        if file_id in self._noticed:
            return self._notice_s
        return self._tool_quiet_s if portion.session.open_tools else self._quiet_s

    def _ask_for_summaries(self, connection: Connection, grown: Mapping[str, int]) -> None:
        for session_id, project_id in sorted(grown.items()):
            self._queue.enqueue(
                connection,
                session_memory_job(
                    session_id,
                    project_id,
                    debounce_s=self._debounce_s,
                    deadline_s=self._deadline_s,
                ),
            )

    def _ask_for_extraction(self, connection: Connection, ended: Ended) -> None:
        for project_id, explicit in sorted(ended.projects.items()):
            self._queue.enqueue(
                connection,
                extract_job(
                    project_id,
                    explicit=explicit,
                    debounce_s=self._debounce_s,
                    deadline_s=self._deadline_s,
                ),
            )


@dataclass(slots=True)
class _Batch:
    """What belongs to one transaction; looked up at once, because statements are what costs."""

    connection: Connection
    now: float
    met: Met
    gate: Gate | None = None
    result: Recorded = field(default_factory=Recorded)
    ended: Ended = field(default_factory=Ended)
    rows: TurnRows = field(default_factory=TurnRows)
    sessions: list[dict[str, Any]] = field(default_factory=list)
    grown: dict[str, int] = field(default_factory=dict)
    turns: dict[int, Turn] = field(default_factory=dict)
    _projects: dict[str, Project] = field(default_factory=dict)
    _files: dict[str, File] = field(default_factory=dict)

    def prepare(self, portions: Sequence[Portion]) -> None:
        """Make rows for new files; look up turns and projects."""
        new = [portion for portion in portions if portion.progress.file_id is None]
        ids = transcripts.insert_files(self.connection, [new_row(portion) for portion in new])
        for portion, file_id in zip(new, ids, strict=True):
            portion.progress.file_id = file_id
        ids = [p.progress.file_id for p in portions if p.progress.file_id is not None]
        by_id = transcripts.files_of(self.connection, ids)
        for portion in portions:
            if portion.progress.file_id is not None:
                self._files[portion.relative] = by_id[portion.progress.file_id]
        self.turns = turns.turns_of(
            self.connection, {p.progress.turn for p in portions if p.progress.turn}
        )
        cwds = {p.session.cwd for p in portions if isinstance(p.what, SessionFile)}
        cwds |= {
            event.cwd
            for portion in portions
            if isinstance(portion.what, SessionFile)
            for event in portion.said
        }
        cwds.discard("")
        if self.gate:
            cwds = {cwd for cwd in cwds if not self.gate.excludes(cwd)}
        if cwds:
            self._projects = projects.projects_for(self.connection, cwds, now=self.now)

    def project(self, cwd: str, portion: Portion) -> Project:
        """Return the project of ``cwd``; where no record names one, of the client's directory."""
        project = self._projects.get(cwd or portion.path)
        if project is None:
            directory = PurePosixPath(portion.path).parent
            named = [] if cwd else projects.by_slug(self.connection, directory.name)
            project = (
                named[0]
                if len(named) == 1
                else projects.project_for(self.connection, cwd or str(directory), now=self.now)
            )
            self._projects[cwd or portion.path] = project
        return project

    def row(self, portion: Portion) -> File:
        """Return the file as it was before this transaction."""
        return self._files[portion.relative]
