"""Files that are written whole: a reader finds the old text or the new one, never half of one."""

from __future__ import annotations

import os
import pathlib
import tempfile


def write_whole(path: pathlib.Path, text: str, *, lasting: bool = False) -> pathlib.Path:
    """Write a draft beside the file and put it in its place: the path, whose file the user alone may read.

    Its folder must be there. `lasting`: it is on the disk before it has its name, so that a crash of the machine leaves
    one of the two as well. Raises OSError; whatever is raised leaves no draft behind.
    """
    handle, draft = tempfile.mkstemp(dir=path.parent, suffix=".draft")  # for the user alone from its first moment
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
            if lasting:
                file.flush()
                os.fsync(file.fileno())
        return pathlib.Path(draft).replace(path)
    except BaseException:
        pathlib.Path(draft).unlink(missing_ok=True)
        raise
