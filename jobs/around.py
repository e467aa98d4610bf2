"""What drivers of harmed jobs talk to on this machine: a broker, the store of their checkpoints, a file that asks."""

from __future__ import annotations

import contextlib
import pathlib
from collections.abc import Iterator, Mapping

from jobs.acts import Harm, Victim
from jobs.processes import listener
from jobs.stalls import Stalls, stalls
from jobs.store import serving

ASKED = "drain"
"""The file in a driver's folder that asks for an executor to be drained."""
KEPT, SHOWN = "checkpoints", "store"
"""Folders of all jobs' checkpoints: as they are, and as drivers see them."""


class Machine:
    """Stalls processes by victim, and asks for drains in a folder."""

    def __init__(self, folder: pathlib.Path, processes: Mapping[Victim, int], stalling: Stalls) -> None:
        self._asked = folder / ASKED
        self._processes, self._stalls = processes, stalling
        self._asking = False

    def stall(self, victim: Victim, for_s: float) -> bool:
        """By its process."""
        return self._stalls.begin(self._processes[victim], for_s)

    def drain(self) -> bool:
        """By the file: it is there until somebody has gone."""
        if not self._asking:
            self._asked.touch()
            self._asking = True
        elif not self._asked.exists():
            self._asking = False
            return True
        return False

    def forget(self) -> None:
        """Nobody asks any more."""
        self._asked.unlink(missing_ok=True)
        self._asking = False


@contextlib.contextmanager
def machine(folder: pathlib.Path, harm: Harm, bootstrap: str | None) -> Iterator[Machine]:
    """What the harm has to do with; a store of checkpoints is served meanwhile. ValueError where one is missing."""
    processes: dict[Victim, int] = {}
    with contextlib.ExitStack() as stack:
        if harm.minutes:
            processes[Victim.STORE] = stack.enter_context(serving(folder / KEPT, folder / SHOWN))
        if harm.broker:
            processes[Victim.BROKER] = _broker(bootstrap)
        yield Machine(folder, processes, stack.enter_context(stalls()))  # which end before the store does


def _broker(bootstrap: str | None) -> int:
    port = (bootstrap or "").rpartition(":")[2]
    found = listener(int(port)) if port.isdigit() else None
    if found is None:
        raise ValueError(f"bootstrap: {bootstrap} given; no process of this machine that may be stopped listens there.")
    return found


def served(folder: pathlib.Path, job: str) -> None:
    """The job's checkpoints are to be in the store, wherever its driver looks for them beside its output."""
    for one in (folder / KEPT / job, folder / job / "run"):
        one.mkdir(parents=True)
    (folder / job / "run" / "checkpoint").symlink_to((folder / SHOWN / job).absolute())
