"""One controller at a time keeps its memory, its history and its driver in a folder."""

from __future__ import annotations

import contextlib
import fcntl
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

LOCK = "controller.pid"


class Taken(Exception):
    """Another controller is at work there; the text is its process id, empty where it cannot be read."""


@contextlib.contextmanager
def alone(folder: Path, pid: int) -> Iterator[None]:
    """No other process gets in meanwhile; a kill of any kind lets the next one in. `pid` is this one's. Raises Taken.

    A record lock: it is the process's alone, so that no child of a controller that was killed holds it on. Where the
    file system has no locks, or takes no file, nothing is held back.
    """
    with _opened(folder / LOCK) as file:
        if file is not None:
            _lock(file, pid)
        yield


def _opened(path: Path) -> contextlib.AbstractContextManager[BinaryIO | None]:
    try:
        return path.open("a+b", buffering=0)  # what a full disk does not take is not tried again when it is closed
    except OSError:
        return contextlib.nullcontext()


def _lock(file: BinaryIO, pid: int) -> None:
    try:
        fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (BlockingIOError, PermissionError) as error:  # the two that a lock of another's has
        file.seek(0)
        raise Taken(file.read(20).decode("ascii", "replace").strip()) from error
    except OSError:
        return
    with contextlib.suppress(OSError):  # a full disk: the lock holds without it
        file.truncate(0)
        file.write(f"{pid}\n".encode())
