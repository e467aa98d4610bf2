"""The one place where errors of the agent's own are caught: counted, logged once for each kind, never passed on."""

from __future__ import annotations

import contextlib
import logging
import threading
import time
from collections import Counter
from collections.abc import Callable, Collection, Mapping
from typing import TypeVar

T = TypeVar("T")
log = logging.getLogger("streamjob_agent")


def say(level: int, text: str, *words: object) -> None:
    """Write to the job's log. Its handlers are the job's own: what they raise reaches nobody."""
    with contextlib.suppress(Exception):
        log.log(level, text, *words)


class Guard:
    """Runs the agent's calls. Safe for several threads."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._errors: Counter[str] = Counter()
        self._in_a_row: Counter[str] = Counter()
        self._newest: dict[str, str] = {}
        self._logged: set[tuple[str, str]] = set()
        self._calls: dict[int, tuple[str, float]] = {}
        self._quiet = False

    def call(self, place: str, action: Callable[[], T], default: T) -> T:
        """The action's result, or `default` when it raised anything at all.

        On the main thread KeyboardInterrupt and SystemExit pass: there they come from the user or the job's own signal
        handlers, which may strike while the agent happens to be at work.
        """
        me = threading.get_ident()
        outer = self._calls.get(me)
        self._calls[me] = (place, self._clock())
        try:
            result = action()
        except BaseException as error:  # whatever it is, it must not end the thread nor reach the job
            if not isinstance(error, Exception) and threading.current_thread() is threading.main_thread():
                raise
            self._caught(place, error)
            return default
        finally:
            if outer is None:
                self._calls.pop(me, None)
            else:
                self._calls[me] = outer
        with self._lock:
            self._in_a_row.pop(place, None)
        return result

    def did(self, place: str, action: Callable[[], None]) -> bool:
        """Whether the action went through."""

        def act() -> bool:
            action()
            return True

        return self.call(place, act, False)

    def report(self, place: str, error: BaseException) -> None:
        """Count and log an error that was caught elsewhere."""
        self._caught(place, error)

    def heard(self, place: str, total: int, sentence: str) -> None:
        """Take over what the JVM caught by itself: how many so far, and the newest one, `type: text`."""
        with self._lock:
            news = total > self._errors[place]
            self._errors[place] = max(total, self._errors[place])
        if news:
            self._tell(place, sentence, sentence.partition(":")[0])

    def _caught(self, place: str, error: BaseException) -> None:
        if self._quiet:
            return
        with self._lock:
            self._errors[place] += 1
            self._in_a_row[place] += 1
        self._tell(place, describe(error), type(error).__name__)

    def _tell(self, place: str, sentence: str, kind: str) -> None:
        with self._lock:
            self._newest.pop(place, None)  # so that the newest one is the last
            self._newest[place] = sentence
            first = (place, kind) not in self._logged
            self._logged.add((place, kind))
        level = logging.WARNING if first else logging.DEBUG
        say(level, "StreamJob agent, %s: %s (the job is not affected)", place, sentence)

    def hush(self) -> None:
        """Ignore errors from now on: the session is going away, so calls are bound to fail."""
        self._quiet = True

    def errors(self) -> Mapping[str, int]:
        """Errors caught so far, by place."""
        with self._lock:
            return dict(self._errors)

    def newest_error(self) -> str | None:
        """The sentence of the newest error, None when there was none."""
        with self._lock:
            return next(reversed(self._newest.values()), None)

    def broken(self, places: Collection[str], limit: int) -> str | None:
        """A sentence about the first of `places` whose last `limit` calls all failed, None when there is none."""
        with self._lock:
            for place in places:
                if self._in_a_row[place] >= limit:
                    return f"{place} failed {self._in_a_row[place]} times in a row: {self._newest[place]}"
        return None

    def stuck(self, limit_s: float, patient: Collection[str] = ()) -> str | None:
        """A sentence about a call that has not come back for limit_s seconds, None when there is none.

        Calls at `patient` places do not count.
        """
        now = self._clock()
        for place, since in list(self._calls.values()):
            if now - since >= limit_s and place not in patient:
                return f"{place} has not come back for {now - since:.0f} s"
        return None


def describe(error: BaseException) -> str:
    """Type and text on one line, cut to a length that fits into a status."""
    try:
        text = " ".join(str(error).split())
    except BaseException as broken:  # noqa: BLE001 - py4j asks a JVM that may be gone for the text of its errors
        text = f"no text, its own text raised {type(broken).__name__}"
    return f"{type(error).__name__}: {text[:300]}" if text else type(error).__name__
