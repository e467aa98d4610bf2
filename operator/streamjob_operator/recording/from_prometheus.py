"""A trace from Prometheus: what the agent told of one query, by range queries over days.

Counters are read as their growth within each step, so that a driver that started anew in the middle does no harm.
"""

from __future__ import annotations

import contextlib
import dataclasses
import math
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
from pydantic import ValidationError

from streamjob_agent import metric_names as names
from streamjob_operator.kube.metrics.http import Connection
from streamjob_operator.kube.metrics.target import quoted
from streamjob_operator.recording.columns import Columns
from streamjob_operator.recording.from_history import SHARE_DIGITS, made
from streamjob_operator.recording.trace import Batches, Stage, Trace
from streamjob_operator.recording.trace_file import TraceError, as_a_trace
from streamjob_planners.model import FloatArray

MOST_STEPS = 11_000
"""Of one answer, as Prometheus limits it."""
_SHOWN = 5


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """What is asked for: `matchers` select one job's series; seconds on Prometheus's clock."""

    matchers: tuple[str, ...]
    start_s: float
    end_s: float
    step_s: float

    @property
    def window(self) -> str:
        """A step as a range of PromQL."""
        return f"{round(1000 * self.step_s)}ms"

    @property
    def whole(self) -> str:
        """All of it as a range of PromQL."""
        return f"{round(1000 * (self.end_s - self.start_s))}ms"

    def of(self, name: str, *more: str) -> str:
        """A selector of series of that name."""
        return f"{name}{{{','.join((*self.matchers, *more))}}}"


def now_of(connection: Connection) -> float:
    """Prometheus's clock."""
    with _readable():
        return float(connection.query("vector(time())")[0]["value"][1])


def query_of(connection: Connection, span: Span) -> str:
    """The one query that there was; raises TraceError where there are none or several."""
    found = connection.query(
        f"count by (query) (last_over_time({span.of(names.QUERY_BATCHES)}[{span.whole}]))", span.end_s
    )
    with _readable():
        known = sorted(str(one["metric"].get("query", "")) for one in found)
    if len(known) == 1:
        return known[0]
    if not known:
        raise TraceError((f"Prometheus has no {names.QUERY_BATCHES} of that time and selection.",))
    shown = ", ".join(known[:_SHOWN]) + (" ..." if len(known) > _SHOWN else "")
    raise TraceError((f"Prometheus knows {len(known)} queries: {shown}; choose one with --query.",))


def trace_of_prometheus(connection: Connection, job: str, query: str, span: Span) -> Trace:
    """The trace of a query. Raises TraceError, and Unavailable when Prometheus does not answer."""
    steps = round((span.end_s - span.start_s) / span.step_s)
    if not 2 <= steps <= MOST_STEPS:
        raise TraceError((f"{steps} steps of {span.step_s:g} s asked for; 2 to {MOST_STEPS} are possible.",))
    span = dataclasses.replace(span, matchers=(*span.matchers, f"query={quoted(query)}"))
    asked = _Asked(connection, span, steps)
    with as_a_trace(), _readable():
        return made(job, asked.columns(), asked.batches())


@contextlib.contextmanager
def _readable() -> Iterator[None]:
    """What answers may be anything, in the form of a Prometheus too."""
    try:
        yield
    except (TraceError, ValidationError):
        raise
    except (LookupError, TypeError, AttributeError, ValueError, OverflowError) as error:
        raise TraceError(
            (f"Prometheus's answer is not what it gives of the agent ({type(error).__name__}).",)
        ) from error


class _Asked:
    """One query of Spark over one span."""

    def __init__(self, connection: Connection, span: Span, steps: int) -> None:
        self._connection, self._span, self._steps = connection, span, steps

    def columns(self) -> Columns:
        """Every step: what batches took, and by how much the lag grew."""
        taken = self._course(f"sum(rate({self._span.of(names.QUERY_INPUT_ROWS)}[{self._span.window}]))")
        lag = self._course(f"sum({self._span.of(names.QUERY_LAG_ROWS)})")
        return Columns(
            start_s=self._span.start_s,
            step_s=self._span.step_s,
            rate=tuple(_arriving(taken, lag, self._span.step_s)),
            lag=lag,
            executors=tuple(None if one is None else round(one) for one in self._executors()),
            batch_s=self._course(f"{self._rate(names.QUERY_BATCH_SECONDS)} / {self._rate(names.QUERY_BATCHES)}"),
        )

    def _executors(self) -> tuple[float | None, ...]:
        """Executors of the driver: their series carry no query, but its target's labels."""
        own = ",".join(one for one in self._span.matchers if not one.startswith("query="))
        there = f"{names.EXECUTOR_CORES}{{{own}}} and on (instance) {self._span.of(names.QUERY_BATCHES)}"
        return self._course(f"count(count by (executor) ({there}))")

    def batches(self) -> Batches:
        """Means over the whole span."""
        rows, count = self._grown(names.QUERY_INPUT_ROWS), self._grown(names.QUERY_BATCHES)
        if rows <= 0 or count <= 0:
            raise TraceError(("No batch with rows ended within that time.",))
        stages = tuple(self._stages(rows))
        levels_s = self._walls_s()
        fixed_s = max(0.0, (self._grown(names.QUERY_BATCH_SECONDS) - sum(levels_s.values())) / count)
        return Batches(
            trigger_seconds=self._value(f"max({self._over(names.QUERY_TRIGGER_SECONDS)})"),
            fixed_seconds=fixed_s,
            slots=self._slots(),
            stages=stages,
        )

    def _slots(self) -> int:
        own = ",".join(one for one in self._span.matchers if not one.startswith("query="))
        cores = self._value(f"quantile(0.5, last_over_time({names.EXECUTOR_CORES}{{{own}}}[{self._span.whole}]))")
        if cores is None:
            raise TraceError((f"Prometheus has no {names.EXECUTOR_CORES} of that time and selection.",))
        return round(cores)

    def _stages(self, rows: float) -> Iterable[Stage]:
        """Stages without key groups first, then one for each operator."""
        levels = self._by("stage", f"max by (stage) ({self._over(names.STAGE_LEVEL)})")
        busy = self._by("stage", f"sum by (stage) ({self._increase(names.STAGE_BUSY_SECONDS)})")
        groups = self._groups()
        for stage, level in sorted(levels.items()):
            operator = names.stage_operator(stage)
            if operator is None and busy.get(stage, 0.0) > 0:
                yield Stage(level=round(level), row_seconds=busy[stage] / rows)
            elif operator is not None and operator in groups:
                busy_s = groups[operator]
                total_s = float(busy_s.sum())
                shares = tuple(np.round(busy_s / total_s, SHARE_DIGITS).tolist()) if total_s > 0 else None
                yield Stage(level=round(level), tasks=busy_s.size, row_seconds=total_s / rows, shares=shares)
        if not groups:
            raise TraceError((f"Prometheus has no {names.GROUP_BUSY_SECONDS} of that time and selection.",))

    def _groups(self) -> dict[int, FloatArray]:
        """Seconds of each key group's tasks without what moves and starts cost, by operator, each (n_groups,)."""
        by = "sum by (operator, partition)"
        busy, warmup = (
            {
                (int(one["metric"]["operator"]), int(one["metric"]["partition"])): float(one["value"][1])
                for one in self._ask(f"{by} ({self._increase(name)})")
            }
            for name in (names.GROUP_BUSY_SECONDS, names.GROUP_WARMUP_SECONDS)
        )
        found: dict[int, list[float]] = {}
        for key in sorted(busy):
            found.setdefault(key[0], []).append(max(0.0, busy[key] - warmup.get(key, 0.0)))
        return {operator: np.array(values) for operator, values in found.items()}

    def _walls_s(self) -> dict[int, float]:
        """The longest stage of each level, added up over all batches: stages of one level run side by side."""
        levels = self._by("stage", f"max by (stage) ({self._over(names.STAGE_LEVEL)})")
        walls = self._by("stage", f"sum by (stage) ({self._increase(names.STAGE_WALL_SECONDS)})")
        found: dict[int, float] = {}
        for stage, level in levels.items():
            found[round(level)] = max(found.get(round(level), 0.0), walls.get(stage, 0.0))
        return found

    def _rate(self, name: str) -> str:
        return f"sum(rate({self._span.of(name)}[{self._span.window}]))"

    def _increase(self, name: str) -> str:
        return f"increase({self._span.of(name)}[{self._span.whole}])"

    def _over(self, name: str) -> str:
        return f"last_over_time({self._span.of(name)}[{self._span.whole}])"

    def _grown(self, name: str) -> float:
        return self._value(f"sum({self._increase(name)})") or 0.0

    def _value(self, expression: str) -> float | None:
        found = self._ask(expression)
        value = float(found[0]["value"][1]) if found else math.nan
        return value if math.isfinite(value) else None

    def _by(self, label: str, expression: str) -> dict[str, float]:
        values = {one["metric"][label]: float(one["value"][1]) for one in self._ask(expression)}
        return {name: value for name, value in values.items() if math.isfinite(value)}

    def _ask(self, expression: str) -> list[dict[str, Any]]:
        return self._connection.query(expression, self._span.end_s)

    def _course(self, expression: str) -> tuple[float | None, ...]:
        """The value at the end of each step; None where there is none."""
        span = self._span
        first_s = span.start_s + span.step_s
        found = self._connection.query_range(expression, first_s, span.start_s + self._steps * span.step_s, span.step_s)
        column: list[float | None] = [None] * self._steps
        for at_s, text in found[0]["values"] if found else ():
            step = round((float(at_s) - first_s) / span.step_s)
            if 0 <= step < self._steps and math.isfinite(float(text)):
                column[step] = float(text)
        return tuple(column)


def _arriving(taken: tuple[float | None, ...], lag: tuple[float | None, ...], step_s: float) -> Iterable[float | None]:
    """Rows that reached the sources: those taken, and by how many more waited than a step before."""
    before: float | None = None
    for rate, waiting in zip(taken, lag, strict=True):
        grown = 0.0 if waiting is None or before is None else (waiting - before) / step_s
        yield None if rate is None else max(0.0, rate + grown)
        before = waiting
