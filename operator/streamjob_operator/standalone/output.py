"""What is said while a job runs: a reader that hangs up, or a full disk, is no reason to end the job."""

from __future__ import annotations

import contextlib
import os
from typing import TextIO


class Output:
    """A text file for a console. After the first failure nothing more is written: the history has all of it."""

    def __init__(self, file: TextIO) -> None:
        self._file = file
        self.encoding = file.encoding or "utf-8"

    def write(self, text: str) -> int:
        """Characters that the encoding lacks are written as numbers."""
        try:
            self._file.write(text.encode(self.encoding, "backslashreplace").decode(self.encoding))
        except OSError:
            self._give_up()
        return len(text)

    def flush(self) -> None:
        """See TextIO."""
        try:
            self._file.flush()
        except OSError:
            self._give_up()

    def isatty(self) -> bool:
        """Whether a person looks at it as it is written."""
        return self._file.isatty()

    def fileno(self) -> int:
        """Raises OSError where it is no file of the system's."""
        return self._file.fileno()

    def _give_up(self) -> None:
        """What is still in buffers goes nowhere: Python would fail over it at its own end."""
        with contextlib.suppress(OSError):
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, self._file.fileno())
            os.close(nowhere)
