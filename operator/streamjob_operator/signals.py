"""What ends a process from outside, as an event that loops can wait for."""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Iterator


@contextlib.contextmanager
def stop_on_signals() -> Iterator[threading.Event]:
    """An event that Ctrl-C, SIGTERM and a terminal that is closed set; the handlers are as before afterwards.

    Under `nohup` a terminal may close. Only in the main thread.
    """
    stop = threading.Event()
    kept = () if signal.getsignal(signal.SIGHUP) is signal.SIG_IGN else (signal.SIGHUP,)
    before = {one: signal.signal(one, lambda *_: stop.set()) for one in (signal.SIGINT, signal.SIGTERM, *kept)}
    try:
        yield stop
    finally:
        for one, handler in before.items():
            signal.signal(one, handler)
