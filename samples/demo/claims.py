"""What the demo claims, each checked against records that were not made by the one who claims it."""

from __future__ import annotations

import dataclasses
from collections import Counter

import numpy as np
from event_log import Batch, Events
from proof import Proof

from streamjob_operator.digest import CycleDigest, digest
from streamjob_operator.history import History
from streamjob_operator.values import CycleRecord, Reason


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """A sentence with its figures, and whether it holds."""

    ok: bool
    text: str


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """A figure of the summary."""

    name: str
    value: str
    note: str = ""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Course:
    """What the controller did so far. `phases` maps a phase's name to when it started; `end_s` ends the last one."""

    history: History
    phases: dict[str, float]
    end_s: float

    @property
    def digests(self) -> tuple[CycleDigest, ...]:
        """The cycles' figures."""
        return tuple(digest(record) for record in self.history.cycles)

    def span(self, phase: str) -> tuple[float, float]:
        """Start and end of a phase."""
        starts = [*self.phases.values(), self.end_s]
        index = list(self.phases).index(phase)
        return starts[index], starts[index + 1]


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Run(Course):
    """All that is known about a finished run."""

    events: Events
    proof: Proof


def claims(run: Run) -> list[Claim]:
    """All of them, in the order in which they are printed."""
    return [exact(run), no_failed_task(run), balanced(run), within_budget(run), scaled_out(run), drained(run)]


def exact(run: Run) -> Claim:
    """The results equal the source."""
    proof = run.proof
    text = (
        f"Results equal the source: {proof.scans:,} scans of {proof.depots} depots in {proof.batches} batches, "
        f"{proof.repeats:,} repeated scans dropped"
    )
    if proof.mistakes:
        return Claim(ok=False, text=f"{text}: {len(proof.mistakes)} mistakes, the first: {proof.mistakes[0]}")
    return Claim(ok=proof.scans > 0, text=f"{text}; every batch continues the one before")


def no_failed_task(run: Run) -> Claim:
    """Spark's own log has no task that failed."""
    events = run.events
    failed = f", the first: {events.failed_tasks[0]}" if events.failed_tasks else ""
    text = f"{len(events.failed_tasks)} of {events.tasks:,} tasks failed{failed}"
    return Claim(ok=events.tasks > 0 and not events.failed_tasks, text=text)


def first_phase(run: Course) -> list[CycleDigest]:
    """Cycles of the first phase with a measured load distance: rate and skew are constant there."""
    start_s, end_s = run.span(next(iter(run.phases)))
    return [one for one in run.digests if start_s <= one.at_s < end_s and one.distance_pct is not None]


RELIEF = (Reason.BATCH_TIME.value, Reason.FILLING.value, Reason.LOAD_DISTANCE.value)
"""Reasons to move key groups for the sake of balance."""
PROMISE_RATIO = 1.25
"""How much longer than promised batches may take."""


def batch_seconds(cycles: list[CycleDigest]) -> list[float]:
    """Mean batches of the cycles that measured one."""
    return [one.batch.measured_s for one in cycles if one.batch is not None]


def relieved(cycles: list[CycleDigest]) -> list[CycleDigest]:
    """Cycles that moved key groups to shorten batches."""
    return [one for one in cycles if one.moves and one.reason in RELIEF]


def balanced(run: Course) -> Claim:
    """Under the first phase's steady rate and skew, batches get shorter, to about what the plans promised."""
    cycles = first_phase(run)
    plans = relieved(cycles)
    if not plans:
        return Claim(ok=False, text="No key group moved in the first phase to make batches shorter")
    before_s = float(np.median(batch_seconds([one for one in cycles if one.at_s <= plans[0].at_s]) or [0.0]))
    after = batch_seconds([one for one in cycles if one.at_s > plans[-1].at_s])[-STEADY_CYCLES:]
    promised_s = plans[-1].batch.planned_s if plans[-1].batch is not None else None
    if not after or promised_s is None:
        return Claim(ok=False, text="No batch was measured after the last plan of the first phase")
    after_s = float(np.median(after))
    text = f"Mean batches went from {before_s:.2f} to {after_s:.2f} s, {promised_s:.2f} s were promised"
    return Claim(ok=after_s < before_s and after_s <= PROMISE_RATIO * promised_s, text=text)


def carried_out(run: Course) -> list[CycleRecord]:
    """Cycles whose decision was accepted by the agent."""
    return [one for one in run.history.cycles if one.verdict.act and one.receipt is not None and one.receipt.accepted]


def within_budget(run: Course) -> Claim:
    """No boundary that was planned adds more to its batch than the budget, or than its first move alone would.

    A key group whose state takes longer to load than the budget allows moves all the same, else it never could.
    """
    plans = [one for one in carried_out(run) if one.verdict.plan and one.verdict.plan.moves]
    boundaries = [boundary for one in plans for boundary in _boundaries_s(one)]
    over = [extra_s for extra_s, limit_s in boundaries if extra_s > limit_s + 1e-9]
    dearest_s = max((extra_s for extra_s, _ in boundaries), default=0.0)
    text = (
        f"{len(plans)} plans moved key groups; a boundary adds {dearest_s:.2f} s to its batch at most, "
        f"within the budget of its plan, or one move alone"
    )
    return Claim(ok=bool(plans) and not over, text=text)


def _boundaries_s(record: CycleRecord) -> list[tuple[float, float]]:
    """What each boundary of a plan adds, and the most that it may; its first move stands for it in `move_cost_s`."""
    verdict, batch = record.verdict, None if record.model is None else record.model.batch
    moves = () if verdict.plan is None else verdict.plan.moves
    speed = [1.0 if batch is None else float(batch.speed[move.target]) for move in moves]
    limits_s = [max(verdict.boundary_s or 0.0, move.cost_s / speed[at]) for at, move in enumerate(moves)]
    return list(zip(verdict.move_cost_s, limits_s, strict=True))


def scaled_out(run: Course) -> Claim:
    """As the rate rose, executors were added and got key groups."""
    start_s, end_s = run.span(list(run.phases)[-1])
    early = {one.executor_id for cycle in run.digests if cycle.at_s < start_s for one in cycle.executors}
    late = [one for cycle in run.digests if start_s <= cycle.at_s < end_s for one in cycle.executors]
    came = sorted({one.executor_id for one in late if one.executor_id not in early and one.groups and one.load_pct})
    names = f": {', '.join(came)}" if came else ""
    return Claim(ok=bool(came), text=f"{executors(len(came))} came as the rate rose and took over key groups{names}")


def executors(count: int) -> str:
    """A number of executors."""
    return f"{count} executor" if count == 1 else f"{count} executors"


STEADY_CYCLES = 3
ENOUGH_BATCHES = 20
"""Batches before the first move, and as many after the last one: fewer say little of a median."""


def batches_since(run: Course, at_s: float) -> int:
    """Batches that began at or after a moment, as any cycle has measured them: one knows the last minute or so."""
    found: dict[float, int] = {}
    for series in (one.snapshot.series for one in run.history.cycles if one.snapshot and one.at_s >= at_s):
        if series is not None:
            since = series.within(at_s)
            found.update(zip(series.ended_at_s[since].tolist(), series.batches[since].tolist(), strict=True))
    return sum(found.values())


def watched(run: Course) -> bool:
    """Whether enough batches of the first phase have ended to be compared with."""
    start_s = next(iter(run.phases.values()), None)
    return start_s is not None and batches_since(run, start_s) >= ENOUGH_BATCHES


def balanced_at_s(run: Course) -> float | None:
    """When the last move of the first phase was known to be made; None while there was none, or some are pending."""
    cycles = first_phase(run)
    plans = [one.at_s for one in relieved(cycles)]
    return next((one.at_s for one in cycles if plans and one.at_s > plans[-1] and not one.pending), None)


def settled(run: Course) -> bool:
    """Whether batches are as short as promised for long enough, and no more moves were wanted for a while."""
    since_s, newest = balanced_at_s(run), first_phase(run)[-STEADY_CYCLES:]
    calm = not any(one.moves or one.pending for one in newest)
    return since_s is not None and calm and batches_since(run, since_s) >= ENOUGH_BATCHES and balanced(run).ok


def removed(run: Course) -> bool:
    """Whether an executor was drained and removed."""
    return any(one.removed for one in run.digests)


def working(run: Course) -> bool:
    """Whether the executors that were asked for in the last phase have come, and carry their share."""
    newest = run.digests[-1]
    fair = not newest.moves and not newest.pending and all(one.groups for one in newest.executors)
    return fair and newest.target in (None, newest.ready) and scaled_out(run).ok


def drained(run: Run) -> Claim:
    """At least one executor was marked, emptied, removed, and is gone for Spark, too."""
    asked = [executor for record in carried_out(run) for executor in record.verdict.remove]
    gone = [executor for executor in asked if executor in run.events.removed]
    strangers = sorted(set(run.events.removed) - set(asked))
    text = f"{executors(len(gone))} marked, drained and removed"
    if strangers:
        return Claim(ok=False, text=f"{text}, but {', '.join(strangers)} were lost without having been drained")
    return Claim(ok=bool(gone), text=text)


def before_and_after(run: Run) -> tuple[list[Batch], list[Batch]]:
    """The first phase's batches until moves for balance were asked for, and since the last of them was made."""
    start_s, end_s = run.span(next(iter(run.phases)))
    batches = [one for one in run.events.batches if start_s <= one.started_at_s < end_s]
    first_move_s = next((one.at_s for one in relieved(first_phase(run))), end_s)
    since_s = balanced_at_s(run)
    # Moves are made between batches: one that had started before they were asked for ran as before.
    before = [one for one in batches if one.started_at_s <= first_move_s]
    return before, [] if since_s is None else [one for one in batches if one.started_at_s >= since_s]


def batch_figures(run: Run) -> list[Figure]:
    """What balancing did to the batches."""
    before, after = before_and_after(run)
    names = ("batch time before, p50 / p95", "batch time after, p50 / p95")
    return [
        Figure(name=names[0], value=_times(before), note=f"{len(before)} batches before the first move"),
        Figure(name=names[1], value=_times(after), note=f"{len(after)} batches once balanced, at the same rate"),
    ]


def course_figures(run: Course) -> list[Figure]:
    """What was done, from beginning to end."""
    digests = run.digests
    moves = sum(one.moves for one in digests)
    state_kib = sum(one.moved_bytes for one in digests) / 1024
    return [
        Figure(name="moves", value=str(moves), note=f"{state_kib:,.0f} KiB of state"),
        Figure(name="executors ready over time", value=_course([one.ready for one in digests if one.executors])),
    ]


def reasons(run: Course) -> list[tuple[str, int, int]]:
    """Each reason, how many cycles gave it, and how many of these acted."""
    given = Counter(one.reason for one in run.digests)
    acted = Counter(one.reason for one in run.digests if one.acted)
    return [(reason, count, acted[reason]) for reason, count in given.most_common()]


def _times(batches: list[Batch]) -> str:
    if not batches:
        return "none measured"
    p50, p95 = np.percentile([one.duration_s for one in batches], [50, 95])
    return f"{p50:.2f} / {p95:.2f} s"


def _course(counts: list[int]) -> str:
    changes = [count for number, count in enumerate(counts) if number == 0 or count != counts[number - 1]]
    return " → ".join(map(str, changes))
