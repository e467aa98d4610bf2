"""Readings of sensors for the Kafka job, at a rate that a test sets, and the proof that the job's sums are right."""

from __future__ import annotations

import json
import random
import subprocess
import sys
import threading
import time
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "samples" / "demo"))

from proof import Proof, finished_batches

from e2e.cluster.kubectl import Kubectl

SENSORS, RATE = 60, 40
CATCH_UP_S, END_S = 180.0, 30.0
_PRODUCER = (
    "exec java -Xmx64m -cp '/data/broker/*' org.apache.kafka.tools.ConsoleProducer "
    "--bootstrap-server kafka.kafka.svc:9092 --topic sensors --property parse.key=true --property key.separator=:"
)


class Topic(threading.Thread):
    """Puts readings into the topic `sensors` by Kafka's own producer beside the broker.

    `rate` is in readings per second; a test may change it at any time, 0 pauses.
    """

    def __init__(self, kubectl: Kubectl, volume: Path) -> None:
        super().__init__(name="topic", daemon=True)
        self._totals = volume / "totals"
        self._chance = random.Random(7)
        self._counts: Counter[str] = Counter()
        self._sums: Counter[str] = Counter()
        self._over = threading.Event()
        command = [*kubectl.command, "exec", "-i", "kafka", "--", "sh", "-c", _PRODUCER]
        self._producer = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True)
        self.rate = RATE

    def put(self, count: int) -> None:
        """So many readings at once; before the thread starts, or in it."""
        assert self._producer.stdin is not None
        for _ in range(count):
            sensor, reading = f"sensor-{self._chance.randrange(SENSORS)}", self._chance.randrange(1000)
            self._producer.stdin.write(f"{sensor}:{reading}\n")
            self._counts[sensor] += 1
            self._sums[sensor] += reading
        self._producer.stdin.flush()

    def run(self) -> None:
        """Put readings there until told to end."""
        while not self._over.wait(1.0):
            self.put(self.rate)

    def end(self) -> None:
        """No more of them."""
        self._over.set()
        self.join(END_S)
        assert self._producer.stdin is not None
        self._producer.stdin.close()
        self._producer.wait(END_S)

    def prove(self) -> Proof:
        """Hold the readings until the job has taken everything in, and compare its sums with what was put there."""
        rate, self.rate = self.rate, 0
        time.sleep(1.5)  # some may be on their way
        wanted, until_s = self._counts.total(), time.monotonic() + CATCH_UP_S
        while (taken := sum(count for count, _ in self._found().values())) < wanted and time.monotonic() < until_s:
            time.sleep(0.5)
        found = self._found()
        expected = {sensor: (count, self._sums[sensor]) for sensor, count in self._counts.items()}
        self.rate = rate
        assert taken == wanted, f"{taken} of {wanted} readings were taken in within {CATCH_UP_S:.0f} s"
        return Proof(
            lines=wanted,
            repeats=0,
            scans=wanted,
            depots=len(expected),
            batches=self.batches(),
            mistakes=_mistakes(expected, found),
        )

    def batches(self) -> int:
        """Batches whose sums the job has written."""
        return len(finished_batches(self._totals))

    def _found(self) -> dict[str, tuple[int, int]]:
        """The newest count and sum of each sensor."""
        newest = {}
        for path in finished_batches(self._totals):
            for row in map(json.loads, path.read_text(encoding="utf-8").splitlines()):
                newest[row["sensor"]] = (row["readings"], row["total"])
        return newest


def _mistakes(expected: dict[str, tuple[int, int]], found: dict[str, tuple[int, int]]) -> tuple[str, ...]:
    return tuple(
        f"{sensor}: {expected.get(sensor)} is right, {found.get(sensor)} was computed"
        for sensor in sorted(expected.keys() | found.keys())
        if expected.get(sensor) != found.get(sensor)
    )
