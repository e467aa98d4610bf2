"""Jobs whose executors and driver are killed, in a driver of their own, and the outcomes that it leaves."""

from __future__ import annotations

import dataclasses
import pathlib
import random
import shutil
import time
from collections.abc import Iterator, Sequence

from jobs import suite
from jobs.driver import driver
from jobs.harm import Endured, Harm, Victim, endure, in_batch
from jobs.job import Job
from jobs.trial import Kind, Outcome


def run_all(
    jobs: Sequence[Job],
    amounts: suite.Amounts,
    folder: pathlib.Path,
    moved: bool,
    harm: Harm,
    source: Sequence[str] = (),
) -> Iterator[Outcome]:
    """Each job once, on one Spark after another; `folder` is for drivers alone, `source` are their further words."""
    for job in jobs:
        shutil.rmtree(folder / job.name, ignore_errors=True)
    folder.mkdir(parents=True, exist_ok=True)
    watch = Outcomes(folder, moved)
    watch.forget()
    chance = random.Random(amounts.seed)
    with driver([*_words(amounts, folder, moved), *source], folder / "drivers.log") as process:
        for endured in endure(process, jobs, harm.kills(amounts.batches), watch, chance):
            yield judged(endured, watch.read(endured.job), harm, amounts, moved)


def _words(amounts: suite.Amounts, folder: pathlib.Path, moved: bool) -> list[str]:
    numbers = {f"--{name.replace('_', '-')}": str(value) for name, value in dataclasses.asdict(amounts).items()}
    words = [word for pair in numbers.items() for word in pair]
    return [*words, "--out", str(folder.absolute()), "--resume", *(() if moved else ("--vanilla",))]


class Outcomes:
    """The folder that drivers write to: checkpoints of their jobs, and what came of them."""

    def __init__(self, folder: pathlib.Path, moved: bool) -> None:
        self._folder, self._moved = folder, moved
        self._files = [folder / name for name in suite.RESULTS.values()]

    def forget(self) -> None:
        """No outcome of an earlier run counts."""
        for file in self._files:
            file.unlink(missing_ok=True)

    def read(self, job: str) -> Outcome | None:
        """What came of it, if it is done."""
        kind = Kind(job=job, moved=self._moved, killed=False)
        return next((found[kind] for file in self._files if kind in (found := suite.read(file))), None)

    def in_batch(self, job: Job, after: int) -> bool:
        """By the logs of the checkpoints."""
        return in_batch([self._folder / job.name / "run" / "checkpoint" / one.name for one in job.queries], after)

    def done(self, job: Job) -> bool:
        """By the outcomes that were kept."""
        return self.read(job.name) is not None

    def now_s(self) -> float:
        """The machine's clock."""
        return time.monotonic()

    def sleep(self, seconds: float) -> None:
        """Wait for so long."""
        time.sleep(seconds)


def judged(endured: Endured, outcome: Outcome | None, harm: Harm, amounts: suite.Amounts, moved: bool) -> Outcome:
    """The outcome with what was done to the job; too few kills are a difference, as is a job that was not done."""
    executors, drivers = endured.killed[Victim.EXECUTOR], endured.killed[Victim.DRIVER]
    wrong = () if endured.failure is None else (endured.failure,)
    if outcome is not None:
        wrong = (*wrong, *outcome.differences)
    if (executors, drivers) != (harm.executors, harm.driver):
        counts = f"{executors} of {harm.executors} executors and {drivers} of {int(harm.driver)} drivers"
        wrong = (*wrong, f"{counts} could be killed before it was done")
    if outcome is None:
        outcome = _nothing(endured.job, amounts, moved)
    return dataclasses.replace(
        outcome, differences=wrong, killed_executors=executors, killed_drivers=drivers, took_s=endured.took_s
    )


def _nothing(job: str, amounts: suite.Amounts, moved: bool) -> Outcome:
    return Outcome(
        job=job,
        seed=amounts.seed,
        rows=0,
        batches=amounts.batches,
        took_s=0.0,
        differences=(),
        failed_tasks=0,
        shapes=(),
        moves=0 if moved else None,
    )
