"""Runs that are made once and kept: a program that was stopped, or that has only so much time, goes on where it was.

A piece is a function of its arguments: `@piece` keeps what it gives, a JSON line in out/figures/pieces/, under the
arguments and the code that it was computed from (`sources.version`). Other code or other arguments, another piece. The
line has the CPU seconds, too, that the piece took: what others do on the machine changes these least.
"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import hashlib
import inspect
import json
import os
import sys
import time
import typing
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, ParamSpec, TypeVar

import numpy as np
from pydantic import PlainSerializer, PlainValidator, TypeAdapter

from benchmarks.sources import version

FOLDER = Path("out/figures/pieces")
UNFINISHED = 75
"""Exit code of a program whose time was up before it was done."""

Array = Annotated[np.ndarray, PlainValidator(np.asarray), PlainSerializer(np.ndarray.tolist)]
"""An array that a piece gives: kept as lists. The JSON mode of pydantic would make None of NaN and infinity."""
PIECES: list[Callable[..., Any]] = []
"""Every function that was imported and whose results are kept."""
P, R = ParamSpec("P"), TypeVar("R")


class _Until:
    """When the program's time is up, on the clock of `time.monotonic`; None for never."""

    at_s: float | None = None


def stop_after(seconds: float | None) -> None:
    """Begin no piece of this program that late; None for no limit."""
    _Until.at_s = None if seconds is None else time.monotonic() + seconds


def piece(function: Callable[P, R]) -> Callable[P, R]:
    """The function, which looks for its result among those that are kept, and keeps a new one at once.

    Its annotated result is plain data, dataclasses of it, or `Array`. Where the program's time is up (`stop_after`), it
    ends with UNFINISHED instead.
    """

    @functools.wraps(function)
    def made_once(*args: P.args, **kwargs: P.kwargs) -> R:
        result = TypeAdapter(typing.get_type_hints(function, include_extras=True)["return"])
        told = _told(args, kwargs)
        path, key = _path(function), _key(function, told)
        line = _line(path, key)
        if line is None:
            if _Until.at_s is not None and time.monotonic() > _Until.at_s:
                print("\nThe time is up: run it again, it goes on from here.")
                sys.exit(UNFINISHED)
            before_s = _cpu_s()
            given = result.dump_python(function(*args, **kwargs))
            line = {"key": key, "arguments": told, "cpu_s": round(_cpu_s() - before_s, 3), "result": given}
            _append(path, line)
        found: R = result.validate_python(line["result"])
        return found

    PIECES.append(function)
    return made_once


def spent_s(function: Callable[..., Any]) -> list[float]:
    """CPU seconds of each kept result of this function, as it is today."""
    path, found = _path(function), {}
    for text in path.read_text(encoding="utf-8").splitlines() if path.exists() else ():
        with contextlib.suppress(ValueError):  # cut short
            line = json.loads(text)
            if line["key"] == _key(function, line["arguments"]):
                found[line["key"]] = float(line["cpu_s"])
    return list(found.values())


def _path(function: Callable[..., Any]) -> Path:
    return FOLDER / f"{Path(inspect.getfile(function)).stem}.{function.__name__}.jsonl"


def _key(function: Callable[..., Any], told: str) -> str:
    return hashlib.sha256(f"{version(function)} {told}".encode()).hexdigest()[:16]


def _cpu_s() -> float:
    """CPU time of this process, all its threads, and the processes that it has waited for."""
    spent = os.times()
    return spent.user + spent.system + spent.children_user + spent.children_system


def _told(args: tuple[object, ...], kwargs: dict[str, object]) -> str:
    """Arguments as text that tells all of them. Raises TypeError for what says less than it holds, as arrays do."""
    for one in (*args, *kwargs.values()):
        plain = isinstance(one, str | int | float | tuple | None) or dataclasses.is_dataclass(one)
        if not plain:
            raise TypeError(f"{type(one).__name__} given to a piece: numbers, text, tuples or dataclasses are needed")
    return f"{args} {sorted(kwargs.items())}"


def _line(path: Path, key: str) -> dict[str, Any] | None:
    """The line that is kept under this key; one that was cut short when its program was killed does not count.

    Other lines are not parsed: 365 runs with their series took 0.14 s of it for each piece that was asked for.
    """
    begins = f'{{"key": "{key}"'
    for text in path.read_text(encoding="utf-8").splitlines() if path.exists() else ():
        if text.startswith(begins):
            try:
                line: dict[str, Any] = json.loads(text)
            except ValueError:
                continue
            return line
    return None


def _append(path: Path, line: dict[str, Any]) -> None:
    """One write at the end of the file: programs that run side by side do not mix their lines."""
    path.parent.mkdir(parents=True, exist_ok=True)
    text = json.dumps(line) + "\n"
    if path.exists() and not path.read_bytes().endswith(b"\n"):
        text = "\n" + text
    with path.open("ab", buffering=0) as file:
        os.write(file.fileno(), text.encode())
