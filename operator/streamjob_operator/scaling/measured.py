"""What rules of others measure, read off a situation: each says here what of a micro-batch stands for it."""

from __future__ import annotations

from streamjob_operator.scaling.rule import Situation
from streamjob_operator.values import ExecutorView

FULL = 100.0


def working(situation: Situation) -> tuple[ExecutorView, ...]:
    """Executors that are ready and not being drained: the pods that count."""
    marked = situation.memory.marked
    return tuple(one for one in situation.snapshot.executors if one.state == "ready" and one.executor_id not in marked)


def busy_pct(situation: Situation) -> float:
    """Share of the working executors' task slots that ran a task, percent: what a CPU metric shows of a busy job."""
    executors, window_s = working(situation), situation.snapshot.window_s
    slots = sum(one.cores for one in executors)
    return 0.0 if not slots or window_s <= 0 else FULL * sum(one.busy_s for one in executors) / (slots * window_s)


def arriving_rps(situation: Situation) -> float:
    """Rows per second that the source brings: those taken, and those by which its lag grew."""
    return situation.snapshot.rates.input_rps * situation.estimate.growth_ratio


def slots_per_executor(situation: Situation) -> float:
    """Task slots of a mean working executor; 1 when there is none."""
    executors = working(situation)
    return sum(one.cores for one in executors) / len(executors) if executors else 1.0


def slot_row_rps(situation: Situation) -> float | None:
    """Rows that one slot takes in a second in which it runs a task, all stages together; None without a row or a task.

    DS2 calls it the true processing rate of an instance: useful time alone, waiting left out.
    """
    rates, snapshot = situation.snapshot.rates, situation.snapshot
    busy_s = float(snapshot.busy_s.sum()) + rates.other_busy_s
    rows = rates.input_rps * snapshot.window_s
    return rows / busy_s if busy_s > 0 and rows > 0 else None
