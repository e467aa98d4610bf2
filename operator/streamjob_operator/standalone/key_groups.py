"""Another number of key groups between two lives of a job's driver: stopped in order, changed, started again.

The operation itself leaves a query that can start, whatever becomes of it, or can be sent back (decision 0068). What is
kept here in a file says no more than that it was begun: a controller that was killed asks for the same once more, which
goes on, begins anew or finds it done.
"""

from __future__ import annotations

import contextlib
import enum
import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from streamjob_operator import key_groups
from streamjob_operator.standalone.submission import STOP_GRACE_S

if TYPE_CHECKING:  # planners' values take a second to import
    from streamjob_operator.key_groups import KeyGroupsSeen
    from streamjob_operator.spec import StreamJob
    from streamjob_operator.values import CycleRecord

STOP_DEADLINE_S = STOP_GRACE_S + 30.0
"""A driver that has not stopped in order by then is ended; the operation refuses a batch that was not finished."""
BEGUN = "key-groups.json"


class Stoppable(Protocol):
    """The driver."""

    def ask_to_stop(self) -> None:
        """Wait for nothing."""

    def exit_code(self) -> int | None:
        """None while it runs."""

    def stop(self) -> None:
        """End it and all that it started."""


class Operation(Protocol):
    """The process that changes the checkpoint."""

    def start(self, key_groups: int | None) -> None:
        """None: back to the old number. Raises OSError."""

    def exit_code(self) -> int | None:
        """None while it runs."""

    def stop(self) -> None:
        """End it; it ends by itself first what must not be broken off."""

    def survivor(self) -> int | None:
        """One that an earlier controller left."""

    def last_words(self) -> tuple[str, ...]:
        """The last lines of its output."""


class Wanted:
    """How many key groups are wanted, by the newest measurement and the newest edit of the job's file.

    It listens to cycles as a reporter, and tells each proposal once.
    """

    def __init__(self, job: StreamJob, tell: Callable[[str], None]) -> None:
        self.job = job
        self._tell = tell
        self._seen: KeyGroupsSeen | None = None

    def __call__(self) -> int | None:
        """None where those that there are may stay."""
        return key_groups.wanted(self.job, self._seen)

    def report(self, record: CycleRecord) -> None:
        """See Reporter."""
        before, self._seen = self._seen, key_groups.seen_in(record) or self._seen
        if self._seen is None or self._seen.proposed is None:
            return
        if before is None or before.proposed != self._seen.proposed:
            self._tell(
                f"{self._seen.proposed} key groups in place of {self._seen.now} might keep batches shorter; "
                f"spec.balancing.keyGroups.count: {self._seen.proposed} in the job's file makes them."
            )


class State(enum.Enum):
    """What is done."""

    IDLE = "idle"
    SURVIVED = "survived"
    """An operation that an earlier controller started still runs."""

    STOPPING = "stopping"
    CHANGING = "changing"
    UNDOING = "undoing"


class KeyGroupChange:
    """Call :meth:`tick` often: while it says True, the driver is stopped, or to be left alone."""

    def __init__(
        self,
        driver: Stoppable,
        operation: Operation,
        wanted: Callable[[], int | None],
        folder: Path,
        tell: Callable[[str], None],
    ) -> None:
        self._driver = driver
        self._operation = operation
        self._wanted = wanted
        self._begun = folder / BEGUN
        self._tell = tell
        self._number = _read(self._begun)
        self._tried: int | None = None
        self._failure: tuple[str, ...] = ()
        self._stop_by_s = 0.0
        self._state = State.IDLE if self._number is None else State.SURVIVED

    def tick(self, now_s: float) -> bool:
        """One step, as far as one is due; `now_s` on the clock of the supervisor."""
        if self._state is State.IDLE:
            return self._begin(now_s)
        if self._state is State.SURVIVED:
            return self._go_on()
        if self._state is State.STOPPING:
            return self._stopped(now_s)
        return self._ended()

    def stop(self) -> None:
        """The run ends. What was begun stays on record, unless the checkpoint is as it was."""
        if self._state in (State.CHANGING, State.UNDOING):
            self._operation.stop()
        elif self._state is State.STOPPING:
            self._forget()

    def _begin(self, now_s: float) -> bool:
        number = self._wanted()
        if number is None or number == self._tried:
            self._tried = number
            return False
        if self._driver.exit_code() is not None:  # it has ended by itself: whether it starts again is not said here
            return False
        self._number = self._tried = number
        try:
            self._begun.write_text(json.dumps({"keyGroups": number}), encoding="ascii")
        except OSError as error:  # a full disk: what could not be found again after a crash is not begun
            self._tell(
                f"There are no {number} key groups, and the driver goes on as it is: {self._begun} could not be "
                f"written: {error.strerror or error}. It is not tried again until another number is wanted."
            )
            return self._over()
        self._tell(f"The driver stops between two batches; then its state is spread over {number} key groups.")
        self._driver.ask_to_stop()
        self._stop_by_s, self._state = now_s + STOP_DEADLINE_S, State.STOPPING
        return True

    def _go_on(self) -> bool:
        if self._operation.survivor() is not None:
            return True
        self._tell(f"A change to {self._number} key groups was begun by an earlier run; it is asked for once more.")
        return self._start(self._number, State.CHANGING)

    def _stopped(self, now_s: float) -> bool:
        if self._driver.exit_code() is None and now_s < self._stop_by_s:
            return True
        self._driver.stop()
        return self._start(self._number, State.CHANGING)

    def _start(self, number: int | None, state: State) -> bool:
        self._state = state
        try:
            self._operation.start(number)
        except OSError as error:
            return self._broken(f"could not be started: {error.strerror or error}.", ())
        return True

    def _ended(self) -> bool:
        code = self._operation.exit_code()
        if code is None:
            return True
        self._operation.stop()
        if code == 0 and self._state is State.UNDOING:
            return self._failed(self._failure)
        if code == 0:
            self._tell(f"The state is spread over {self._number} key groups, and the driver is started again.")
            return self._over()
        words = self._operation.last_words()
        if self._state is State.UNDOING:
            return self._broken(f"ended with {code}.", words)
        if code == key_groups.REFUSED:
            return self._failed(words)
        self._failure = (*words, f"It ended with {code}, so it was asked to go back.")
        return self._start(None, State.UNDOING)

    def _broken(self, why: str, words: tuple[str, ...]) -> bool:
        """The change did not begin, or the way back came to nothing: then the driver's own failure may say more."""
        if self._state is State.CHANGING:
            return self._failed((f"It {why}", *words))
        return self._failed((*self._failure, f"It could not be sent back either: it {why}", *words))

    def _failed(self, words: tuple[str, ...]) -> bool:
        first = f"There are no {self._number} key groups: the change failed, and the driver is started as it was. It is"
        told = [f"{first} not tried again until another number is wanted.", *(f"  | {line}" for line in words)]
        self._tell("\n".join(told))
        return self._over()

    def _over(self) -> bool:
        self._tried, self._number, self._state = self._number, None, State.IDLE
        self._forget()
        return False

    def _forget(self) -> None:
        """A record that cannot be taken away does no harm: what it asks for once more is found done."""
        with contextlib.suppress(OSError):  # nor does one that could not be written
            self._begun.unlink()


def _read(begun: Path) -> int | None:
    try:
        return int(json.loads(begun.read_text(encoding="ascii"))["keyGroups"])
    except (OSError, ValueError, KeyError, TypeError):
        return None
