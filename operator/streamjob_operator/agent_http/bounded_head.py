"""An answer whose status line and headers are bounded together: the library takes 6.5 MiB of each peer."""

from __future__ import annotations

import http.client
from typing import Any

MOST_HEAD_BYTES = 64 * 1024
"""An agent's has a few hundred bytes; what a mesh's proxy adds fits many times."""


class BoundedAnswer(http.client.HTTPResponse):
    """As HTTPResponse, whose `begin` raises LineTooLong where more comes before the body, 1xx answers among it."""

    def begin(self) -> None:
        """Read the head."""
        whole = self.fp
        self.fp = _Head(whole)  # type: ignore[assignment]
        try:
            super().begin()
        finally:
            if self.fp is not None:  # it is closed where no body follows
                self.fp = whole


class _Head:
    """Lines of a file until there have been too many bytes."""

    def __init__(self, file: Any) -> None:
        self._file = file
        self._left = MOST_HEAD_BYTES

    def readline(self, most: int) -> bytes:
        line: bytes = self._file.readline(min(most, self._left + 1))
        self._left -= len(line)
        if self._left < 0:
            raise http.client.LineTooLong("head of the answer")
        return line

    def close(self) -> None:
        self._file.close()
