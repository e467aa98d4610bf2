"""Rows into a topic of Kafka as they are due, by Kafka's own tools."""

from __future__ import annotations

import json
import pathlib
import subprocess
import threading
import time
from collections.abc import Sequence

from benchmarks.rules_on_spark.course import Course
from e2e.cluster import kafka
from jobs.job import Row

EVERY_S, END_S = 0.1, 60.0
Ticks = list[tuple[float, int]]
"""Moments, seconds since the epoch, and how many rows had been handed over by then."""


def create(address: str, topic: str, partitions: int) -> None:
    """The topic, which a job that begins before its first row wants to see."""
    words = ["--bootstrap-server", address, "--create", "--topic", topic, "--partitions", str(partitions)]
    subprocess.run([*_java("TopicCommand"), *words], check=True, capture_output=True, timeout=END_S)


class Producer:
    """Hands the rows of a course over, beside whatever else goes on; their numbers are their keys, so that Kafka puts
    each into the same partition in every run."""

    def __init__(self, course: Course, rows: Sequence[Row], address: str, topic: str, log: pathlib.Path) -> None:
        self._course, self._lines = course, [f"{number}\t{json.dumps(row)}\n" for number, row in enumerate(rows)]
        self._command = [*_java("ConsoleProducer"), "--bootstrap-server", address, "--topic", topic]
        for one in ("parse.key=true", "linger.ms=20"):
            self._command += ["--property" if one.startswith("parse") else "--producer-property", one]
        self._log = log
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self.began_s, self.failure = 0.0, ""
        self.ticks: Ticks = []

    def start(self) -> None:
        """The course begins now."""
        self.began_s = time.time()
        self._thread.start()

    @property
    def done(self) -> bool:
        """All rows were handed over, or it has failed."""
        return not self._thread.is_alive()

    def close(self) -> None:
        """No row is handed over after this."""
        self._stop.set()
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
        given = 0
        while given < len(self._lines) and not self._stop.wait(EVERY_S):
            due = min(self._course.rows_until(time.time() - self.began_s), len(self._lines))
            if time.time() - self.began_s > self._course.ends_s:
                due = len(self._lines)  # the last row is due at the very end, where a sum of areas may miss it
            process.stdin.write("".join(self._lines[given:due]).encode())
            process.stdin.flush()
            given = due
            self.ticks.append((time.time(), given))

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
