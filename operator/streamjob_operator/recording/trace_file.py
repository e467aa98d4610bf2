"""A trace as a file: JSON, read with a sentence for each mistake, written as a whole."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path

from pydantic import ValidationError

from streamjob_operator.files import write_whole
from streamjob_operator.recording.trace import Batches, Stage, Trace
from streamjob_operator.spec.reading import unreadable
from streamjob_operator.spec.sentences import sentences

MOST_SENTENCES = 10
"""A column of wrong values would give a sentence for each."""


class TraceError(ValueError):
    """A trace that cannot be read or made; `sentences` say why."""

    def __init__(self, mistakes: tuple[str, ...]) -> None:
        super().__init__("\n".join(mistakes))
        self.sentences = mistakes

    def __reduce__(self) -> tuple[type[TraceError], tuple[tuple[str, ...]]]:
        """As a replay's own process hands it over."""
        return type(self), (self.sentences,)


@contextlib.contextmanager
def as_a_trace() -> Iterator[None]:
    """A trace is made of what was measured; where that cannot be one, as of more than a week, it is a TraceError."""
    try:
        yield
    except ValidationError as error:
        kind = {one.__name__: one for one in (Stage, Batches)}.get(error.title, Trace)
        said = sentences(error, kind)[:MOST_SENTENCES]
        raise TraceError(tuple(f"This cannot be a trace: {one}" for one in said)) from error


def read_trace(path: Path) -> Trace:
    """The trace in a file; raises TraceError."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise TraceError((unreadable(path, error),)) from error
    try:
        return Trace.model_validate_json(text)
    except ValidationError as error:
        if error.errors()[0]["type"] == "json_invalid":
            raise TraceError((f"{path}: this is not JSON: {error.errors()[0]['msg']}.",)) from error
        found = sentences(error, Trace)
        more = len(found) - MOST_SENTENCES
        shown = found[:MOST_SENTENCES] if more > 1 else found
        left = (f"and {more} more mistakes.",) if more > 1 else ()
        raise TraceError(tuple(f"{path}: {one}" for one in (*shown, *left))) from error


def write_trace(path: Path, trace: Trace) -> None:
    """Write the file, its folders too; it is replaced as a whole. Raises OSError."""
    write_whole(path, trace.model_dump_json(by_alias=True, exclude_none=False) + "\n")
