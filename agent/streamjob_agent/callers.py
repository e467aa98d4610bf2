"""Who calls the agent's HTTP side, and how many of them at once. Standard library only."""

from __future__ import annotations

import contextlib
import http.client
import socket
import threading
from collections import Counter
from collections.abc import Mapping
from typing import Any

MOST_HEAD_BYTES = 16 * 2**10
"""Of a request's line and headers, which take a KiB; Python's own limit is 6.5 MiB for each caller."""
PATIENCE_S = 1.0
"""For a place of its kind: the caller before may be answered, and not gone yet."""


class Callers:
    """Places for `most` callers, and within them at most `kinds[kind]` that ask for that. Safe for several threads.

    Nobody knows what a caller wants before it has said so. Where all places are taken, whoever has not done so for
    longest is hung up on, and the new one has its place: who means to ask does so at once, so that callers that say
    nothing, or a letter now and then, keep nobody out. Of a kind, one address takes a further place only while it has
    fewer than are free (the operator's rule for namespaces): half of them at most. Who waits for that gives way too.
    """

    def __init__(self, most: int, kinds: Mapping[str, int]) -> None:
        self._most = most
        self._kinds = kinds
        self._silent: dict[socket.socket, None] = {}  # in the order of their coming
        self._asking: dict[socket.socket, tuple[str, str]] = {}  # kind and address
        self._changed = threading.Condition()

    def come(self, caller: socket.socket) -> bool:
        """A caller wants to be heard; False where no place can be made."""
        with self._changed:
            if len(self._silent) + len(self._asking) >= self._most:
                if not self._silent:
                    return False
                oldest = next(iter(self._silent))
                del self._silent[oldest]
                with contextlib.suppress(OSError):  # it has just gone by itself
                    oldest.shutdown(socket.SHUT_RDWR)
                self._changed.notify_all()
            self._silent[caller] = None
            return True

    def ask(self, caller: socket.socket, kind: str, address: str) -> bool:
        """It asks for something of that kind; False where it cannot have it now, or has been hung up on."""
        with self._changed:
            self._changed.wait_for(lambda: caller not in self._silent or self._may(kind, address), PATIENCE_S)
            if caller not in self._silent or not self._may(kind, address):
                return False
            del self._silent[caller]
            self._asking[caller] = kind, address
            return True

    def _may(self, kind: str, address: str) -> bool:
        taken = Counter(where for what, where in self._asking.values() if what == kind)
        return self._kinds[kind] - taken.total() > taken[address]

    def go(self, caller: socket.socket) -> None:
        """It is gone."""
        with self._changed:
            self._silent.pop(caller, None)
            self._asking.pop(caller, None)
            self._changed.notify_all()


class BoundedHead:
    """A request's line and headers from a file, as http.server reads them; raises LineTooLong beyond the limit."""

    def __init__(self, file: Any) -> None:
        self._file = file
        self._left = MOST_HEAD_BYTES

    def readline(self, most: int) -> bytes:
        """One line, or the first `most` bytes of it."""
        line: bytes = self._file.readline(min(most, self._left + 1))
        self._left -= len(line)
        if self._left < 0:
            raise http.client.LineTooLong("head of the request")
        return line

    def __getattr__(self, name: str) -> Any:
        """All else is the file's own."""
        return getattr(self._file, name)
