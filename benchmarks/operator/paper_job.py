"""A driver whose counters are known for any moment, so that what Prometheus would have stored need not be kept.

Everything that the agent tells of a stateful query of one operator: key groups, stages, parts, executors. Work varies
by some percent from batch to batch, by a table that is gone through again and again. What was told of a moment stays
so: other loads and owners hold from a batch on.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Iterator

import numpy as np
from benchmarks.operator.synthetic import BATCH_S, CORES, SyntheticJob

from streamjob_agent import metric_names as names
from streamjob_planners.model import FloatArray

TABLE = 512
NOISE = 0.05
QUERY, OPERATOR, FREE = "q-job-0", "operator-0", "free-0.0"
Series = tuple[dict[str, str], FloatArray]
"""Labels without the name, and a value for each moment."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Era:
    """What holds from the end of a batch, by its number, until that of the next era."""

    batch: float
    load: FloatArray
    owners: FloatArray


class PaperJob(SyntheticJob):
    """One query of one operator since `begun_s`; counters step when a batch ends, each BATCH_S."""

    def __init__(self, name: str, groups: int, executors: int, begun_s: float) -> None:
        rng = np.random.default_rng(groups)
        super().__init__(name, groups, executors, rng)
        self.begun_s = begun_s
        noise = np.exp(rng.normal(0.0, NOISE, (TABLE, groups)))
        self._grown = np.vstack([np.zeros(groups), np.cumsum(noise, axis=0)])
        self._eras: list[Era] = []
        self.moved(begun_s)

    def shift(self, now_s: float) -> None:
        """Other loads from now on."""
        self.load = self.load[self._rng.permutation(self.load.size)]
        self.moved(now_s)

    def moved(self, now_s: float) -> None:
        """Owners, or loads, are others from now on."""
        batch = float(np.floor((now_s - self.begun_s) / BATCH_S))
        owners = np.array([float(one) for one in self.owners])
        self._eras = [one for one in self._eras if one.batch < batch]
        self._eras.append(Era(batch=batch, load=self.load.copy(), owners=owners))

    def series(self, name: str, at_s: FloatArray) -> Iterator[Series]:
        """Every series of that name at these moments."""
        batches = np.floor((at_s - self.begun_s) / BATCH_S)
        if name in names_of_groups():
            yield from self._groups(name, batches)
        elif name in (names.EXECUTOR_CORES, names.EXECUTOR_STATE, names.EXECUTOR_BUSY_SECONDS):
            yield from self._executors_of(name, batches)
        elif name in (names.EXECUTOR_MEMORY_USED, names.EXECUTOR_MEMORY_LIMIT):
            size = 3e9 if name == names.EXECUTOR_MEMORY_USED else 4e9
            yield from (({"executor": str(one)}, np.full(at_s.size, size)) for one in range(self._executors))
        elif name in _PER_BATCH:
            yield from self._counters(name, batches)
        elif name in _GAUGES:
            yield from (({"query": QUERY, **labels}, np.full(at_s.size, value)) for labels, value in _GAUGES[name])
        elif name == names.QUERY_LAST_BATCH_TIMESTAMP:
            yield {"query": QUERY}, self.begun_s + batches * BATCH_S
        elif name == names.QUERY_INFO:
            yield {"query": QUERY, "name": "", "run": f"run-{self.name}"}, np.ones(at_s.size)

    def _groups(self, name: str, batches: FloatArray) -> Iterator[Series]:
        if name in _OF_GROUPS:
            values = self._summed(batches, lambda era, until: self._grown_to(until) * era.load) * _OF_GROUPS[name]
            values = values.round() if name in _WHOLE else values
        else:
            values = np.full((batches.size, self.load.size), 0.0) + _SIZES.get(name, 0.0)
            if name == names.GROUP_EXECUTOR_ID:
                values += np.array([self._at(one).owners for one in batches.tolist()])
        for at in range(self.load.size):
            yield {"query": QUERY, "operator": "0", "partition": str(at)}, values[:, at]

    def _at(self, batch: float) -> Era:
        return next(one for one in reversed(self._eras) if one.batch <= max(batch, 0.0))

    def _summed(self, batches: FloatArray, counted: Callable[[Era, FloatArray], FloatArray]) -> FloatArray:
        """A counter at the ends of these batches, by what each era would have `counted` up to one."""
        ends = [*(one.batch for one in self._eras[1:]), np.inf]
        parts = [
            counted(era, np.clip(batches, era.batch, end)) - counted(era, np.array([era.batch]))
            for era, end in zip(self._eras, ends, strict=True)
        ]
        return np.asarray(np.sum(parts, axis=0))

    def _grown_to(self, batches: FloatArray) -> FloatArray:
        """Seconds of each group up to then, had it a load of 1, (n_moments, n_groups)."""
        rounds, row = np.divmod(batches.astype(np.int64), TABLE)
        return np.asarray((rounds[:, None] * self._grown[-1] + self._grown[row]) * BATCH_S)

    def _executors_of(self, name: str, batches: FloatArray) -> Iterator[Series]:
        for one in range(self._executors):
            if name == names.EXECUTOR_BUSY_SECONDS:
                yield {"executor": str(one)}, self._each(batches, functools.partial(_held_s, one))
            else:
                more = {"host": f"10.0.0.{one}"} if name == names.EXECUTOR_CORES else {"state": "ready"}
                cores = float(CORES) if name == names.EXECUTOR_CORES else 1.0
                yield {"executor": str(one), **more}, np.full(batches.size, cores)

    def _each(self, batches: FloatArray, added: Callable[[Era], float]) -> FloatArray:
        """A counter by what each batch of an era has `added`."""
        return self._summed(batches, lambda era, until: until * added(era))

    def _counters(self, name: str, batches: FloatArray) -> Iterator[Series]:
        for labels in _LABELS.get(name, ({},)):
            yield {"query": QUERY, **labels}, self._each(batches, functools.partial(self._figure, name, labels))

    def _figure(self, name: str, labels: dict[str, str], era: Era) -> float:
        """What each batch of an era adds."""
        held = np.zeros(self._executors)
        np.add.at(held, era.owners.astype(np.int64), era.load)
        wall_s, busy_s = float(held.max()) * BATCH_S / CORES, float(era.load.sum()) * BATCH_S
        longest_s, first = float(era.load.max()) * BATCH_S, labels.get("stage") == OPERATOR
        parts = {"addBatch": wall_s + 0.5, "queryPlanning": 0.05, "walCommit": 0.05, "triggerExecution": wall_s + 0.7}
        known = {
            names.STAGE_WALL_SECONDS: wall_s if first else 0.4,
            names.STAGE_BUSY_SECONDS: busy_s if first else 2.0,
            names.STAGE_LONGEST_SECONDS: longest_s if first else 0.3,
            names.STAGE_WAIT_SECONDS: 0.3 if first else 0.1,
            names.PART_SECONDS: parts.get(labels.get("part", ""), 0.0),
            names.OPERATOR_SQUARED_SECONDS: float((era.load**2).sum()) * BATCH_S**2 * (1 + NOISE**2),
            names.QUERY_BATCHES: 1.0,
            names.QUERY_BATCH_SECONDS: wall_s + 0.7,
            names.QUERY_INPUT_ROWS: 5000.0,
            names.QUERY_OTHER_BUSY_SECONDS: 2.0,
        }
        return known.get(name, 0.0)


def _held_s(executor: int, era: Era) -> float:
    """Seconds of work of an executor's key groups in a batch."""
    return float(era.load[era.owners == executor].sum()) * BATCH_S


@functools.cache
def names_of_groups() -> frozenset[str]:
    """Of series that each key group has."""
    return frozenset((*_OF_GROUPS, *_SIZES, names.GROUP_EXECUTOR_ID))


_OF_GROUPS = {
    names.GROUP_BUSY_SECONDS: 1.0,
    names.GROUP_CPU_SECONDS: 0.8,
    names.GROUP_RECORDS: 1000.0,
    names.GROUP_LOCAL_BYTES: 10_000.0,
    names.GROUP_REMOTE_BYTES: 90_000.0,
}
_OF_STAGES = tuple({"stage": one} for one in (OPERATOR, FREE))
_LABELS: dict[str, tuple[dict[str, str], ...]] = {
    **dict.fromkeys(
        (
            *(names.STAGE_WALL_SECONDS, names.STAGE_BUSY_SECONDS),
            *(names.STAGE_LONGEST_SECONDS, names.STAGE_WAIT_SECONDS),
        ),
        _OF_STAGES,
    ),
    names.PART_SECONDS: tuple({"part": one} for one in ("addBatch", "queryPlanning", "walCommit", "triggerExecution")),
    names.OPERATOR_SQUARED_SECONDS: ({"operator": "0"},),
}
"""Of series that grow with each batch, what they have beside the query's."""
_WHOLE = (names.GROUP_RECORDS, names.GROUP_LOCAL_BYTES, names.GROUP_REMOTE_BYTES)
_SIZES = {names.GROUP_STATE_BYTES: 1e6, names.GROUP_STATE_MEMORY: 2e6, names.GROUP_WARMUP_SECONDS: 0.25}
_PER_BATCH = frozenset(
    (
        *(names.STAGE_WALL_SECONDS, names.STAGE_BUSY_SECONDS, names.STAGE_LONGEST_SECONDS, names.STAGE_WAIT_SECONDS),
        *(names.PART_SECONDS, names.OPERATOR_SQUARED_SECONDS, names.QUERY_BATCHES, names.QUERY_BATCH_SECONDS),
        *(names.QUERY_INPUT_ROWS, names.QUERY_OTHER_BUSY_SECONDS, names.QUERY_MOVED_GROUPS),
        names.QUERY_TRAFFIC_BATCHES,
    )
)
_GAUGES: dict[str, list[tuple[dict[str, str], float]]] = {
    names.QUERY_LAST_BATCH_SECONDS: [({}, 3.0)],
    names.QUERY_TRIGGER_SECONDS: [({}, BATCH_S)],
    names.STAGE_LEVEL: [({"stage": OPERATOR}, 1.0), ({"stage": FREE}, 0.0)],
}
