"""Jobs that are harmed, in a driver of their own, and the outcomes that it leaves."""

from __future__ import annotations

import dataclasses
import json
import pathlib
import random
import shutil
import time
from collections.abc import Iterator, Mapping, Sequence

from jobs import around, suite
from jobs.acts import Act, Harm, counted
from jobs.driver import driver
from jobs.harm import Endured, World, commits, endure, in_batch, limit_s
from jobs.job import Job
from jobs.trial import Kind, Outcome

RECORD = "harm.json"
"""Beside a job's input and output: what was to be done to it, what was done, and when."""


def run_all(
    jobs: Sequence[Job],
    amounts: suite.Amounts,
    folder: pathlib.Path,
    moved: bool,
    harm: Harm,
    source: Mapping[str, str],
) -> Iterator[Outcome]:
    """Each job once, on one Spark after another; `folder` is for drivers alone, `source` has their further options."""
    for name in (around.KEPT, *(job.name for job in jobs)):
        shutil.rmtree(folder / name, ignore_errors=True)
    folder.mkdir(parents=True, exist_ok=True)
    watch = Outcomes(folder, moved)
    watch.forget()
    words = [*_words(amounts, folder, moved), *(word for pair in source.items() for word in pair)]
    with (
        around.machine(folder, harm, source.get("--bootstrap")) as machine,
        driver(words, folder / "drivers.log") as process,
    ):
        if harm.minutes:
            for job in jobs:
                around.served(folder, job.name)
        world = World(driver=process, around=machine, watch=watch, chance=random.Random(amounts.seed))
        plans = {job.name: harm.acts(amounts.batches, random.Random(f"{amounts.seed} {job.name}")) for job in jobs}
        for endured in endure(world, jobs, lambda job: plans[job.name], limit_s(amounts.batches)):
            machine.forget()
            write(endured, amounts, harm, folder / endured.job / RECORD)
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
        kind = Kind(job=job, moved=self._moved, harmed=False)
        return next((found[kind] for file in self._files if kind in (found := suite.read(file))), None)

    def commits(self, job: Job) -> int:
        """By the logs of the checkpoints."""
        return commits(self._checkpoints(job))

    def in_batch(self, job: Job, after: int) -> bool:
        """By the logs of the checkpoints."""
        return in_batch(self._checkpoints(job), after)

    def _checkpoints(self, job: Job) -> list[pathlib.Path]:
        """Those that a store serves where they are kept: there nobody waits for it."""
        kept = self._folder / around.KEPT / job.name
        folder = kept if kept.exists() else self._folder / job.name / "run" / "checkpoint"
        return [folder / one.name for one in job.queries]

    def done(self, job: Job) -> bool:
        """By the outcomes that were kept."""
        return self.read(job.name) is not None

    def now_s(self) -> float:
        """The machine's clock."""
        return time.monotonic()

    def sleep(self, seconds: float) -> None:
        """Wait for so long."""
        time.sleep(seconds)


def write(endured: Endured, amounts: suite.Amounts, harm: Harm, file: pathlib.Path) -> None:
    """The record of what was done; times are seconds since the job's first batch, None for what was not done."""
    done = [(one.act, one.at_s) for one in endured.done]
    acts = [_told(act, at_s) for act, at_s in (*done, *((act, None) for act in endured.undone))]
    record = {"job": endured.job, "seed": amounts.seed, "minutes": harm.minutes, "acts": acts}
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")


def _told(act: Act, done_at_s: float | None) -> dict[str, object]:
    times = {"planned_at_s": act.at_s, "done_at_s": done_at_s, "for_s": act.for_s}
    rounded = {name: None if one is None else round(one, 2) for name, one in times.items()}
    return {"what": act.victim.value, "after_batches": act.after, **rounded}


def judged(endured: Endured, outcome: Outcome | None, harm: Harm, amounts: suite.Amounts, moved: bool) -> Outcome:
    """The outcome with what was done to the job; too few acts are a difference, as is a job that was not done."""
    done, undone = counted(one.act for one in endured.done), counted(endured.undone)
    wrong = () if endured.failure is None else (endured.failure,)
    if outcome is not None:
        wrong = (*wrong, *outcome.differences)
    if undone:
        counts = ", ".join(f"{count} of {count + done.get(name, 0)}: {name}" for name, count in undone.items())
        wrong = (*wrong, f"not done before its end: {counts}")
    if outcome is None:
        outcome = _nothing(endured.job, amounts, moved)
    return dataclasses.replace(
        outcome, differences=wrong, harm=done, minutes=harm.minutes or None, took_s=endured.took_s
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
