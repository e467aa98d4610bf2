"""Memory to JSON and back, and a file that survives a crash at any moment."""

from __future__ import annotations

import dataclasses
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError

from streamjob_operator.values import Memory
from streamjob_operator.whole import replacing

_ADAPTER = TypeAdapter(Memory)
CORRUPT_SUFFIX = ".corrupt"


class UnreadableMemory(ValueError):
    """A memory that cannot be read; the sentence says why."""


def to_json(memory: Memory) -> str:
    """One line of JSON."""
    # Not by dataclasses.asdict, which copies every value first: ten times as long.
    return json.dumps(memory, default=_fields, separators=(",", ":"))


def _fields(value: Any) -> dict[str, Any]:
    return {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}


def from_json(text: str) -> Memory:
    """Inverse of :func:`to_json`; raises UnreadableMemory with a sentence on anything else."""
    try:
        document: Any = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise UnreadableMemory(f"it is not JSON: {error}") from error
    version = document.get("version") if isinstance(document, dict) else None
    if version != Memory().version:
        raise UnreadableMemory(f"it has version {version!r}, this controller reads {Memory().version}")
    try:
        return _ADAPTER.validate_python(document)
    except ValidationError as error:
        first = error.errors()[0]
        raise UnreadableMemory(f"its field {'.'.join(map(str, first['loc']))}: {first['msg'].lower()}") from error


class FileMemory:
    """A MemoryStore in one file. What cannot be read is put aside, told to `warn`, and a new memory begins.

    A new memory is safe: the generation and the executors that are being drained are taken over from the agent.
    """

    def __init__(self, path: Path, warn: Callable[[str], None]) -> None:
        self._path = path
        self._warn = warn

    def load(self) -> Memory:
        """The last saved memory, or a new one; raises OSError when the file cannot be opened."""
        try:
            return from_json(self._path.read_text(encoding="utf-8"))
        except FileNotFoundError:
            return Memory()
        except (UnreadableMemory, UnicodeDecodeError) as error:
            aside = self._path.with_name(self._path.name + CORRUPT_SUFFIX)
            os.replace(self._path, aside)
            self._warn(f"The memory in {self._path} cannot be used, {error}; kept as {aside}, starting with a new one.")
            return Memory()

    def save(self, memory: Memory) -> None:
        """Write, flush to disk, rename: a crash leaves the old or the new memory. Raises OSError."""
        self._path.parent.mkdir(parents=True, exist_ok=True)
        with replacing(self._path, lasting=True) as file:
            file.write(to_json(memory).encode())
