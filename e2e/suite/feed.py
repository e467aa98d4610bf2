"""Scans for the job, at a rate that a test sets; the same generator and the same proof as samples/demo."""

from __future__ import annotations

import itertools
import json
import sys
import threading
import time
from collections.abc import Iterable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "samples" / "demo"))

from proof import Proof, checked_scans, expected_totals, prove
from source import Skew, rows
from spark_hash import partition_of

SKEW = Skew(partitions=8, hot_every=4, hot_weight=3.0, depots_per_partition=4, pair_ratio=0.5, repeat_ratio=0.05)
CATCH_UP_S = 240.0
QUIET, RUSH = 40, 350
"""Scans per second. A scan takes 5 ms: the rush is too much for two executors at the wanted utilization, but not more
than they can do, so that no backlog grows while the third one starts on cores that all pods share."""


KEPT_OF_OTHERS = 5
"""While the feed is lopsided: of the scans of other key groups every so many-th is published."""


def lopsided(scan: dict[str, int]) -> bool:
    """Whether a scan is of key group 0 or one of few others, so that this one has most of them.

    By its own number, so that a scan that is sent twice is kept twice or not at all.
    """
    return partition_of(scan["depot"], SKEW.partitions) == 0 or scan["scan"] % KEPT_OF_OTHERS == 0


class Feed(threading.Thread):
    """Publishes one file each second. A test may change at any time: `rate`, scans per second (0 pauses), and
    `lopsided`, whether most of them are of one key group."""

    def __init__(self, volume: Path) -> None:
        super().__init__(name="feed", daemon=True)
        self._volume = volume
        self._input = volume / "input"
        self._over = threading.Event()
        self.rate = QUIET
        self.lopsided = False

    def run(self) -> None:
        """Publish until told to end."""
        stream, numbers = rows(SKEW), itertools.count()
        next_s = time.monotonic()
        while not self._over.wait(max(0.0, next_s - time.monotonic())):
            next_s += 1.0
            if self.rate:
                wanted = filter(lopsided, stream) if self.lopsided else stream
                self._publish(next(numbers), itertools.islice(wanted, self.rate))

    def _publish(self, number: int, scans: Iterable[dict[str, int]]) -> None:
        draft = self._volume / "draft.json"
        draft.write_text("".join(json.dumps(scan) + "\n" for scan in scans), encoding="ascii")
        draft.rename(self._input / f"{number:06d}.json")

    def end(self) -> None:
        """Publish no more."""
        self._over.set()
        self.join(10.0)

    def prove(self) -> Proof:
        """Hold the feed until the job has taken everything in, and compare all results with all sources."""
        rate, self.rate = self.rate, 0
        time.sleep(1.5)  # a file may be on its way
        wanted = sum(total.scans for total in expected_totals(self._input)[0].values())
        until_s = time.monotonic() + CATCH_UP_S
        while (found := checked_scans(self._volume / "totals")) < wanted and time.monotonic() < until_s:
            time.sleep(0.5)
        proof = prove(self._input, self._volume / "totals")
        self.rate = rate
        assert found == wanted, f"{found} of {wanted} scans were taken in within {CATCH_UP_S:.0f} s"
        return proof
