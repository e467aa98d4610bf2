"""Rows into a topic of Kafka as they are due, by Kafka's own tools."""

from __future__ import annotations

import itertools
import json
import pathlib
import subprocess
import threading
import time
from collections.abc import Iterator

from benchmarks.rules_on_spark.course import Course
from benchmarks.rules_on_spark.waiting import tell
from e2e.cluster import kafka
from jobs.job import Row

EVERY_S, END_S = 0.1, 60.0
LOG, GIVEN = "producer.log", "given"
"""Its files: what it says, and how many rows it has handed over."""
TRICKLE_ROWS = 10
"""Each EVERY_S, before the course begins: JVMs get warm on them."""
Ticks = list[tuple[float, int]]
"""Moments, seconds since the epoch, and how many rows had been handed over by then."""


def create(address: str, topic: str, partitions: int) -> None:
    """The topic, which a job that begins before its first row wants to see."""
    words = ["--bootstrap-server", address, "--create", "--topic", topic, "--partitions", str(partitions)]
    subprocess.run([*_java("TopicCommand"), *words], check=True, capture_output=True, timeout=END_S)


class Producer:
    """Hands rows over beside whatever else goes on: a few a second at first, a course's from `begin` on.

    A row's number is its key, so that Kafka puts each into the same partition in every run.
    """

    def __init__(self, course: Course, rows: Iterator[Row], address: str, topic: str, folder: pathlib.Path) -> None:
        self._course, self._rows, self._log = course, rows, folder / LOG
        self._told = folder / GIVEN
        self._command = [*_java("ConsoleProducer"), "--bootstrap-server", address, "--topic", topic]
        self._command += ["--property", "parse.key=true", "--producer-property", "linger.ms=20"]
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self.began_s: float | None = None
        self.failure = ""
        self.given: list[Row] = []
        self.ticks: Ticks = []

    def start(self) -> None:
        """Rows come from now on."""
        self._thread.start()

    def begin(self) -> None:
        """The course begins now; what came before is not of it."""
        self.began_s = time.time()

    @property
    def done(self) -> bool:
        """All rows of the course were handed over, or it has failed."""
        return not self._thread.is_alive()

    def close(self) -> None:
        """No row is handed over after this."""
        self._stop.set()
        if self._thread.is_alive():
            self._thread.join(END_S)

    def _run(self) -> None:
        with self._log.open("wb") as log:
            process = subprocess.Popen(self._command, stdin=subprocess.PIPE, stdout=log, stderr=log)
            try:
                self._hand_over(process)
            except OSError as error:
                self.failure = f"the producer ended: {error}"
            finally:
                self._end(process)

    def _hand_over(self, process: subprocess.Popen[bytes]) -> None:
        assert process.stdin is not None
        of_course = 0
        while not self._stop.wait(EVERY_S):
            began_s, now_s = self.began_s, time.time()
            due = TRICKLE_ROWS if began_s is None else self._course.rows_until(now_s - began_s) - of_course
            of_course += 0 if began_s is None else due
            some = list(itertools.islice(self._rows, due))
            numbered = enumerate(some, start=len(self.given))
            process.stdin.write("".join(f"{number}\t{json.dumps(row)}\n" for number, row in numbered).encode())
            process.stdin.flush()
            self.given += some
            self.ticks.append((time.time(), len(self.given)))
            tell(self._told, len(self.given))
            if began_s is not None and now_s - began_s > self._course.ends_s:
                return

    def _end(self, process: subprocess.Popen[bytes]) -> None:
        """Its input ends, and with it the producer."""
        try:
            process.communicate(timeout=END_S)
        except (OSError, ValueError, subprocess.TimeoutExpired):
            process.kill()
            process.wait()
        if process.returncode and not self.failure:
            self.failure = f"the producer ended with exit code {process.returncode}"


def _java(tool: str) -> list[str]:
    quiet = "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn"
    classes = f"{kafka.get(kafka.BROKER)}/*"
    options = ["-Xmx64m", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", quiet]
    return ["java", *options, "-cp", classes, f"org.apache.kafka.tools.{tool}"]
