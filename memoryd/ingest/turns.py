"""The human turns of one file while one portion of it is being written."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field

from sqlalchemy import Connection

from memoryd.ingest.cursor import uuid_key
from memoryd.stores import turns
from memoryd.stores.transcripts import TurnState
from memoryd.stores.turns import Turn
from memoryd.transcript.events import EndReason, HumanPrompt


class Met:
    """Which record uuids were met before, in any file.

    Args:
        connection: where they are remembered.
        uuids: all that may be asked for.
    """

    def __init__(self, connection: Connection, uuids: Collection[str]) -> None:
        self._keys = {uuid: uuid_key(uuid) for uuid in uuids}
        self._known = turns.known_keys(connection, set(self._keys.values()))
        self.fresh: list[int] = []

    def is_first(self, uuid: str) -> bool:
        """Return whether the uuid is new, and count it as met from now on."""
        key = self._keys[uuid]
        if key in self._known:
            return False
        self._known.add(key)
        self.fresh.append(key)
        return True

    def withhold(self, uuid: str) -> None:
        """Remember of a uuid that was new that its record is not to be taken in later either."""
        self.fresh.append(withheld_key(uuid))


def withheld_key(uuid: str) -> int:
    """Return the digest that says of a record that it was met but not taken in."""
    return uuid_key(f"withheld {uuid}")


@dataclass(slots=True)
class Ended:
    """Projects with turns that ended, and whether one of them is an explicit request."""

    projects: dict[int, bool] = field(default_factory=dict)

    def add(self, project_id: int, explicit: bool) -> None:
        """Count an ended turn."""
        self.projects[project_id] = self.projects.get(project_id, False) or explicit


@dataclass(slots=True, kw_only=True)
class Current:
    """The turn that records belong to now; ``id`` is 0 until it has a row."""

    id: int
    file_id: int
    session_id: str
    project_id: int
    uuid: str
    state: TurnState
    explicit: bool
    start: int
    end: int
    at: float = 0.0
    headless: bool = False
    reason: str | None = None
    quiet_at: float | None = None


class TurnRows:
    """Turns to be written at the end of a transaction, in few statements."""

    def __init__(self) -> None:
        self._turns: list[Current] = []

    def put(self, turn: Current) -> None:
        """Have a turn written as it is now."""
        self._turns.append(turn)

    def write(self, connection: Connection) -> None:
        """Write all; of the new turns the last of each file gets its id."""
        turns.update_turns(
            connection, [{"id": turn.id, **_changing(turn)} for turn in self._turns if turn.id]
        )
        new = [turn for turn in self._turns if not turn.id]
        ids = turns.insert_turns(
            connection,
            [
                {
                    **_changing(turn),
                    "file_id": turn.file_id,
                    "session_id": turn.session_id,
                    "project_id": turn.project_id,
                    "uuid": turn.uuid,
                    "at": turn.at,
                    "headless": turn.headless,
                    "explicit": turn.explicit,
                }
                for turn in new
            ],
        )
        for turn in {turn.file_id: turn for turn in new}.values():
            turn.id = ids[turn.file_id]


class TurnWriter:
    """Opens, extends and ends the turns of one file.

    Args:
        connection: inside a write.
        file_id: of the file.
        session_id: of the session.
        turn: the one that the records before this portion belonged to.
        ended: where ended turns are counted.
        rows: where turns are put that are to be written.

    Attributes:
        begun: turns that are new to memoryd.
    """

    def __init__(
        self,
        connection: Connection,
        *,
        file_id: int,
        session_id: str,
        turn: Turn | None,
        ended: Ended,
        rows: TurnRows,
    ) -> None:
        self._connection = connection
        self._file_id = file_id
        self._session_id = session_id
        self._ended = ended
        self._rows = rows
        self._current = None if turn is None else self._taken_up(turn)
        self.begun = 0

    @property
    def uuid(self) -> str | None:
        """The prompt of the current turn."""
        return None if self._current is None else self._current.uuid

    @property
    def is_baseline(self) -> bool:
        """Whether the current turn counts as handled without having been looked at."""
        return self._current is not None and self._current.state is TurnState.BASELINE

    def begin(
        self, prompt: HumanPrompt, project_id: int, *, at: float, baseline: bool, explicit: bool
    ) -> None:
        """Begin a turn that is new to memoryd."""
        self.leave(prompt.start)
        self.begun += 1
        self._current = Current(
            id=0,
            file_id=self._file_id,
            session_id=self._session_id,
            project_id=project_id,
            uuid=prompt.uuid,
            state=TurnState.BASELINE if baseline else TurnState.OPEN,
            explicit=explicit,
            start=prompt.start,
            end=prompt.end,
            at=at,
            headless=prompt.headless,
            reason=EndReason.NEXT_HUMAN if baseline else None,
        )

    def take_up(self, prompt: HumanPrompt) -> None:
        """Meet a prompt again in a file that was replaced: its turn, if it has one, stands here."""
        self.leave(prompt.start)
        turn = turns.turn_with_uuid(self._connection, self._session_id, prompt.uuid)
        if turn is not None and turn.file_id == self._file_id:
            self._current = self._taken_up(turn)
            self._current.start = prompt.start

    def end(self, reason: EndReason) -> None:
        """End the current turn if it is open; what follows still belongs to it."""
        current = self._current
        if current is not None and current.state is TurnState.OPEN:
            current.state = TurnState.ENDED
            current.reason = reason
            self._ended.add(current.project_id, current.explicit)

    def leave(self, position: int) -> None:
        """End the current turn because another prompt stands at ``position``."""
        self.end(EndReason.NEXT_HUMAN)
        self.close(position, quiet_at=None)
        self._current = None

    def close(self, position: int, *, quiet_at: float | None) -> Current | None:
        """Have the current turn, which reaches to ``position``, written; return it.

        Args:
            position: end of what belongs to it so far.
            quiet_at: when silence ends it if it is open.
        """
        current = self._current
        if current is not None:
            current.end = max(position, current.start)
            current.quiet_at = quiet_at if current.state is TurnState.OPEN else None
            self._rows.put(current)
        return current

    def _taken_up(self, turn: Turn) -> Current:
        return Current(
            id=turn.id,
            file_id=self._file_id,
            session_id=self._session_id,
            project_id=turn.project_id,
            uuid=turn.uuid,
            state=turn.state,
            explicit=turn.explicit,
            start=turn.start,
            end=turn.end,
            reason=turn.end_reason,
        )


def _changing(turn: Current) -> dict[str, object]:
    return {
        "start": turn.start,
        "end": turn.end,
        "state": turn.state.value,
        "end_reason": turn.reason,
        "quiet_at": turn.quiet_at,
    }
