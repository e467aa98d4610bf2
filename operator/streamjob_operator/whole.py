"""Files that are replaced as a whole: who reads has the old one or the new one, never half of one."""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO


@contextlib.contextmanager
def replacing(path: Path, *, lasting: bool = False) -> Iterator[BinaryIO]:
    """A new file that takes the place of `path` at the block's end; nothing of it stays where the block raises.

    Where `path` is a link, of what that leads to. Whoever might read the old one may read the new one, and nobody else.
    Its folder must be there. `lasting`: it is on the disk before it has its name, so that a crash of the machine leaves
    one of the two as well. Raises OSError.
    """
    path = Path(os.path.realpath(path))
    draft = path.with_name(f"{path.name}.{os.getpid()}.tmp")
    try:
        with draft.open("wb") as file:
            with contextlib.suppress(FileNotFoundError):  # there is no old one
                shutil.copymode(path, draft)
            yield file
            if lasting:
                file.flush()
                os.fsync(file.fileno())
        os.replace(draft, path)
    finally:
        draft.unlink(missing_ok=True)
    if lasting:
        _sync_directory(path.parent)


def _sync_directory(directory: Path) -> None:
    """A rename is on disk only when its directory is."""
    handle = os.open(directory, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
