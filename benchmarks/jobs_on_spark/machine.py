"""What processes and the machine have spent, as the kernel tells it, and how fast the machine is just now."""

from __future__ import annotations

import dataclasses
import hashlib
import os
import pathlib
import threading
import time
from collections.abc import Iterator, Mapping

import numpy as np

TICKS = os.sysconf("SC_CLK_TCK")
PROCESSES = pathlib.Path("/proc")
LOOP_BYTES, LOOP_TIMES = 1 << 20, 400


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Spent:
    """CPU seconds since they began, at a time: of one process, of it and all that it began, and of the machine."""

    at_s: float
    alone_s: float
    ours_s: float
    all_s: float


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Share:
    """CPU seconds of a span."""

    alone_s: float
    ours_s: float
    others_s: float


class Meter:
    """CPU seconds of a process and of all that it began, those that have ended since included."""

    def __init__(self, root: int) -> None:
        self._root = root
        self._known: dict[int, float] = {}
        self.seen: list[Spent] = []

    def look(self) -> None:
        """Once."""
        found = dict(_running())
        for process in _below(self._root, {one: parent for one, (parent, _) in found.items()}):
            self._known[process] = found[process][1]
        alone_s, ours_s = self._known.get(self._root, 0.0), sum(self._known.values())
        self.seen.append(Spent(at_s=time.time(), alone_s=alone_s, ours_s=ours_s, all_s=_machine_s()))


def between(seen: list[Spent], from_s: float, until_s: float) -> Share:
    """What was spent in a span, by looks around its ends."""
    at = [one.at_s for one in seen]
    alone_s, ours_s, all_s = (
        float(np.diff(np.interp([from_s, until_s], at, [getattr(one, name) for one in seen]))[0])
        for name in ("alone_s", "ours_s", "all_s")
    )
    return Share(alone_s=alone_s, ours_s=ours_s, others_s=max(0.0, all_s - ours_s))


def loop_s() -> float:
    """Seconds of a fixed amount of work on every core at once: more than usual where others work, too."""
    threads = [threading.Thread(target=_hash) for _ in range(os.cpu_count() or 1)]
    began_s = time.perf_counter()
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    return time.perf_counter() - began_s


def _hash() -> None:
    block, hashed = bytes(LOOP_BYTES), hashlib.sha256()
    for _ in range(LOOP_TIMES):
        hashed.update(block)


def _running() -> Iterator[tuple[int, tuple[int, float]]]:
    """Parent and CPU seconds of every process."""
    for folder in PROCESSES.iterdir():
        if folder.name.isdigit():
            try:
                # The name, in brackets, may hold blanks and brackets itself.
                fields = (folder / "stat").read_text().rpartition(")")[2].split()
            except OSError:  # it has ended since
                continue
            yield int(folder.name), (int(fields[1]), (int(fields[11]) + int(fields[12])) / TICKS)


def _below(root: int, parents: Mapping[int, int]) -> set[int]:
    children: dict[int, list[int]] = {}
    for process, parent in parents.items():
        children.setdefault(parent, []).append(process)
    found, due = set(), [root] if root in parents else []
    while due:
        process = due.pop()
        found.add(process)
        due += children.get(process, [])
    return found


def _machine_s() -> float:
    """All but waiting: user, nice, system, interrupts, and what a host took."""
    user, nice, system, _, _, irq, softirq, steal, *_ = map(
        int, (PROCESSES / "stat").read_text().splitlines()[0].split()[1:]
    )
    return (user + nice + system + irq + softirq + steal) / TICKS
