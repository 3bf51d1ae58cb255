"""Sessions whose turn ended in silence: no line of theirs can ask whether a summary is due."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec
from sqlalchemy import Connection

from memoryd.ingest.cursor import decode_mark, encode_mark
from memoryd.stores import transcripts
from memoryd.stores.transcripts import FileKind
from memoryd.transcript.reader import TranscriptReader


def end_growth(connection: Connection, ended: Mapping[int, int]) -> dict[str, int]:
    """Return the sessions of which a summary is due now that their turns are over.

    Args:
        connection: inside a write; what is due is remembered beside the cursor.
        ended: by row id of the file, the project of the turn.

    Returns:
        by session, the row id of the project.
    """
    due: dict[str, int] = {}
    for file_id, file in transcripts.files_of(connection, ended.keys()).items():
        mark = decode_mark(file.state)
        if mark is None or mark.reader is None or file.kind is not FileKind.SESSION:
            continue
        try:
            reader = TranscriptReader(state=mark.reader)
        except msgspec.MsgspecError:  # State of another version: the file is read again.
            continue
        if reader.end_turn() and file.session_id:
            due[file.session_id] = ended[file_id]
            state = encode_mark(msgspec.structs.replace(mark, reader=reader.state()))
            transcripts.update_file(connection, file_id, {"state": state})
    return due
