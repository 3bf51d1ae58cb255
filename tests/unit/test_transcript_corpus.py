"""Real transcripts: any cut tells the same, and nothing readable is lost."""

import itertools
import json
from pathlib import Path
from random import Random

import pytest
from memoryd.transcript.conversation import HumanText, read_conversation
from memoryd.transcript.events import Event, HumanPrompt
from memoryd.transcript.reader import TranscriptReader

pytestmark = pytest.mark.corpus


def transcripts(corpus: Path) -> list[Path]:
    found = sorted(corpus.rglob("*.jsonl"))
    assert found
    return found


def read(chunks: list[bytes]) -> tuple[list[Event], TranscriptReader]:
    reader = TranscriptReader()
    events = [event for chunk in chunks for event in reader.feed(chunk)]
    return events + reader.take_tail(), reader


def test_random_cuts_tell_the_same(corpus: Path) -> None:
    rng = Random(11)
    for path in transcripts(corpus):
        data = path.read_bytes()
        edges = [0, *sorted(rng.randrange(len(data) + 1) for _ in range(60)), len(data)]
        chunks = [data[a:b] for a, b in itertools.pairwise(edges)]
        events, reader = read([data])
        cut_events, cut_reader = read(chunks)

        assert cut_events == events, path.name
        assert cut_reader.stats == reader.stats, path.name
        assert cut_reader.state() == reader.state(), path.name
        assert len(reader.state()) < 4096


def test_every_line_that_is_an_object_is_a_record(corpus: Path) -> None:
    for path in transcripts(corpus):
        data = path.read_bytes()
        _, reader = read([data])
        whole = 0
        for line in data.split(b"\n"):
            try:
                whole += isinstance(json.loads(line), dict)
            except ValueError:
                continue
        # A line that json.loads refuses may still hold two glued records.
        assert whole <= reader.stats.records <= whole + 2, path.name


def test_both_readers_hear_the_same_people(corpus: Path) -> None:
    for path in transcripts(corpus):
        data = path.read_bytes()
        events, _ = read([data])
        prompts = [(e.start, e.uuid, e.text) for e in events if isinstance(e, HumanPrompt)]
        items = read_conversation([data], start=0).items
        heard = [(i.start, i.uuid, i.text) for i in items if isinstance(i, HumanText)]

        assert heard == prompts, path.name


def test_growing_files_are_read_once(corpus: Path) -> None:
    folder = corpus / "transcripts"
    for series in (("H07a", "H07b"), ("H08a", "H08b", "H08c", "H08d")):
        steps = [(folder / f"{name}.jsonl").read_bytes() for name in series]
        reader = TranscriptReader()
        uuids: list[str] = []
        for step in steps:
            reader = TranscriptReader(state=reader.state())
            events = reader.feed(step[reader.offset :]) + reader.take_tail()
            uuids += [e.uuid for e in events if isinstance(e, HumanPrompt)]

        expected, _ = read([steps[-1]])
        assert uuids == [e.uuid for e in expected if isinstance(e, HumanPrompt)]
