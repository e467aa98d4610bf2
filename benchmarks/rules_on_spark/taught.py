"""What a kept run teaches the twin: what a batch, its tasks and an executor that comes take on this machine.

python -m benchmarks.rules_on_spark.taught FOLDER          # of --keep
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import pathlib
from collections.abc import Iterator, Sequence

import numpy as np
from benchmarks import event_log
from benchmarks.event_log import Task, Told

from streamjob_planners.model import FloatArray

LEAST_ROWS = 20
"""Of a batch: those with hardly any tell nothing of what key groups vary by."""
WARM_BATCHES = 8
"""From which on JVMs that were there from the beginning are warm."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Taught:
    """Of a job with one stage with state on executors of one slot.

    Attributes:
        fixed_s: a batch beside its stage with state, the median.
        task_s, row_s: a task without a row, and each row that it fetches of a shuffle, by least squares.
        noise: what a key group's part of the rows varies by from batch to batch, over itself: mean over the groups.
        cold_s: what batches take longer in which an executor has its first task, the median; 0 where none came.
        executors: whose first batch `cold_s` is of.
    """

    fixed_s: float
    task_s: float
    row_s: float
    noise: float
    cold_s: float
    executors: int


def taught(seen: Told) -> Taught:
    """From a run's event log. Raises ValueError where no two batches with state followed the first ones."""
    batches = dict(sorted(_by_batch(seen).items())[WARM_BATCHES:])
    first = _first_batches(seen)
    new = {batch for batch in first.values() if batch in batches}
    calm = [one for number, tasks in batches.items() if number not in new for one in tasks]
    if len(batches) - len(new) < 2:
        raise ValueError(f"batches: {len(batches) - len(new)} with state and without a new executor, two are needed.")
    task_s, row_s = _line(calm)
    took_s = {one.number: one.took_s for one in seen.batches}
    expected_s = {number: _fullest_s(tasks, task_s, row_s) for number, tasks in batches.items()}
    fixed_s = float(np.median([took_s[one] - _fullest_s(batches[one]) for one in batches if one not in new]))
    cold = [took_s[one] - fixed_s - expected_s[one] for one in sorted(new)]
    return Taught(
        fixed_s=fixed_s,
        task_s=task_s,
        row_s=row_s,
        noise=_noise(list(batches.values())),
        cold_s=float(np.median(cold)) if cold else 0.0,
        executors=sum(one in new for one in first.values()),
    )


def startups_s(lines: Sequence[str], seen: Told) -> list[float]:
    """Seconds from each decision for more executors, in a history's lines, to the next one's coming."""
    records = [json.loads(line) for line in lines]
    asked = [one["at_s"] for one in records if one["kind"] == "cycle" and one["verdict"]["reason"] == "ScaleOut"]
    came = sorted(one.from_s for one in seen.executors)
    return [min(one for one in came if one > at_s) - at_s for at_s in asked if came[-1] > at_s]


def _by_batch(seen: Told) -> dict[int, list[Task]]:
    """Tasks with state of each batch that ended and had rows."""
    ended = {one.number for one in seen.batches if one.rows >= LEAST_ROWS}
    found: dict[int, list[Task]] = {}
    for task in seen.tasks:
        if task.stage is not None and task.batch in ended:
            found.setdefault(task.batch, []).append(task)
    return found


def _first_batches(seen: Told) -> dict[str, int]:
    """Of each executor."""
    found: dict[str, int] = {}
    for task in sorted(seen.tasks, key=lambda one: one.batch):
        found.setdefault(task.executor, task.batch)
    return found


def _line(tasks: Sequence[Task]) -> tuple[float, float]:
    rows = np.array([one.rows for one in tasks], dtype=np.float64)
    row_s, task_s = np.polyfit(rows, [one.took_s for one in tasks], 1)
    return float(task_s), float(row_s)


def _fullest_s(tasks: Sequence[Task], task_s: float | None = None, row_s: float = 0.0) -> float:
    """The executor that has most to do: by what its tasks took, or by what they take usually."""
    busy_s: dict[str, float] = {}
    for one in tasks:
        took_s = one.took_s if task_s is None else task_s + row_s * one.rows
        busy_s[one.executor] = busy_s.get(one.executor, 0.0) + took_s
    return max(busy_s.values())


def _noise(batches: Sequence[Sequence[Task]]) -> float:
    """By differences of neighbours (von Neumann, 1941), so that parts that drift are no noise."""
    parts = np.array(list(_parts(batches)))
    if len(parts) < 2:
        return 0.0
    deviation, mean = np.sqrt((np.diff(parts, axis=0) ** 2).mean(axis=0) / 2.0), parts.mean(axis=0)
    return float((deviation[mean > 0] / mean[mean > 0]).mean())


def _parts(batches: Sequence[Sequence[Task]]) -> Iterator[FloatArray]:
    """Of each batch whose key groups all ran once."""
    groups = sorted({one.partition for tasks in batches for one in tasks})
    for tasks in batches:
        rows = {one.partition: float(one.rows) for one in tasks}
        if len(rows) == len(tasks) == len(groups) and sum(rows.values()):
            yield np.array([rows[group] for group in groups]) / sum(rows.values())


def main() -> int:
    """0."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    given = parser.parse_args()
    seen = event_log.read(given.folder / "events")
    for name, value in dataclasses.asdict(taught(seen)).items():
        print(f"{name:10s} {value:.4g}")
    history = given.folder / "out" / "history.jsonl"
    if history.exists():
        found = startups_s(history.read_text(encoding="utf-8").splitlines(), seen)
        print(f"startup_s  {np.median(found):.4g}" if found else "startup_s  no executor came")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
