"""A driver whose counters are known for any moment, so that what Prometheus would have stored need not be kept.

Everything that the agent tells of a stateful query of one operator: key groups, stages, parts, executors. Work varies
by some percent from batch to batch, by a table that is gone through again and again.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Sequence

import numpy as np
from benchmarks.operator.synthetic import BATCH_S, CORES, SyntheticJob

from streamjob_agent import metric_names as names
from streamjob_planners.model import FloatArray

TABLE = 512
NOISE = 0.05
QUERY, OPERATOR, FREE = "q-job-0", "operator-0", "free-0.0"
Series = tuple[dict[str, str], FloatArray]
"""Labels without the name, and a value for each moment."""


class PaperJob(SyntheticJob):
    """One query of one operator since `begun_s`; counters step when a batch ends, each BATCH_S."""

    def __init__(self, name: str, groups: int, executors: int, begun_s: float) -> None:
        rng = np.random.default_rng(groups)
        super().__init__(name, groups, executors, rng)
        self.begun_s = begun_s
        noise = np.exp(rng.normal(0.0, NOISE, (TABLE, groups)))
        self._grown = np.vstack([np.zeros(groups), np.cumsum(noise, axis=0)])
        self._eras: list[tuple[float, list[str]]] = [(begun_s, list(self.owners))]

    def shift(self) -> None:
        """Other loads from now on, and from the beginning: the past is written anew, as if it had always been so."""
        self.load = self.load[self._rng.permutation(self.load.size)]

    def moved(self, now_s: float) -> None:
        """Owners are others from now on."""
        self._eras.append((now_s, list(self.owners)))

    def series(self, name: str, at_s: FloatArray) -> Iterator[Series]:
        """Every series of that name at these moments."""
        batches = np.floor((at_s - self.begun_s) / BATCH_S)
        if name in names_of_groups():
            yield from self._groups(name, batches)
        elif name in (names.EXECUTOR_CORES, names.EXECUTOR_STATE, names.EXECUTOR_BUSY_SECONDS):
            yield from self._executors_of(name, at_s)
        elif name in (names.EXECUTOR_MEMORY_USED, names.EXECUTOR_MEMORY_LIMIT):
            size = 3e9 if name == names.EXECUTOR_MEMORY_USED else 4e9
            yield from (({"executor": str(one)}, np.full(at_s.size, size)) for one in range(self._executors))
        elif name in _PER_BATCH:
            yield from (({"query": QUERY, **labels}, batches * value) for labels, value in self._figures(name))
        elif name in _GAUGES:
            yield from (({"query": QUERY, **labels}, np.full(at_s.size, value)) for labels, value in _GAUGES[name])
        elif name == names.QUERY_LAST_BATCH_TIMESTAMP:
            yield {"query": QUERY}, self.begun_s + batches * BATCH_S
        elif name == names.QUERY_INFO:
            yield {"query": QUERY, "name": "", "run": f"run-{self.name}"}, np.ones(at_s.size)

    def _groups(self, name: str, batches: FloatArray) -> Iterator[Series]:
        if name in _OF_GROUPS:
            values = self._busy_at(batches) * _OF_GROUPS[name]
            values = values.round() if name in _WHOLE else values
        else:
            values = np.full((batches.size, self.load.size), 0.0) + _SIZES.get(name, 0.0)
            if name == names.GROUP_EXECUTOR_ID:
                values += np.array([float(one) for one in self.owners])
        for at in range(self.load.size):
            yield {"query": QUERY, "operator": "0", "partition": str(at)}, values[:, at]

    def _busy_at(self, batches: FloatArray) -> FloatArray:
        """Busy seconds of each group up to then, (n_moments, n_groups)."""
        rounds, row = np.divmod(batches.astype(np.int64), TABLE)
        grown = rounds[:, None] * self._grown[-1] + self._grown[row]
        return np.asarray(grown * self.load * BATCH_S)

    def _executors_of(self, name: str, at_s: FloatArray) -> Iterator[Series]:
        for one in map(str, range(self._executors)):
            if name == names.EXECUTOR_BUSY_SECONDS:
                yield {"executor": one}, self._busy_of(one, at_s)
            else:
                more = {"host": f"10.0.0.{one}"} if name == names.EXECUTOR_CORES else {"state": "ready"}
                cores = float(CORES) if name == names.EXECUTOR_CORES else 1.0
                yield {"executor": one, **more}, np.full(at_s.size, cores)

    def _busy_of(self, executor: str, at_s: FloatArray) -> FloatArray:
        ends = [begun_s for begun_s, _ in self._eras[1:]] + [np.inf]
        total = np.zeros(at_s.size)
        for (begun_s, owners), ended_s in zip(self._eras, ends, strict=True):
            held = np.array([owner == executor for owner in owners])
            total += (np.clip(at_s, begun_s, ended_s) - begun_s) * self.load[held].sum()
        return total

    def _figures(self, name: str) -> Sequence[tuple[dict[str, str], float]]:
        """What each batch adds."""
        held = np.zeros(self._executors)
        np.add.at(held, [int(owner) for owner in self.owners], self.load)
        wall_s, busy_s = float(held.max()) * BATCH_S / CORES, float(self.load.sum()) * BATCH_S
        longest_s = float(self.load.max()) * BATCH_S
        parts = {"addBatch": wall_s + 0.5, "queryPlanning": 0.05, "walCommit": 0.05, "triggerExecution": wall_s + 0.7}
        stages = {
            names.STAGE_WALL_SECONDS: (wall_s, 0.4),
            names.STAGE_BUSY_SECONDS: (busy_s, 2.0),
            names.STAGE_LONGEST_SECONDS: (longest_s, 0.3),
            names.STAGE_WAIT_SECONDS: (0.3, 0.1),
        }
        if name in stages:
            return [({"stage": stage}, value) for stage, value in zip((OPERATOR, FREE), stages[name], strict=True)]
        if name == names.PART_SECONDS:
            return [({"part": part}, value) for part, value in parts.items()]
        if name == names.OPERATOR_SQUARED_SECONDS:
            return [({"operator": "0"}, float((self.load**2).sum()) * BATCH_S**2 * (1 + NOISE**2))]
        known = {
            names.QUERY_BATCHES: 1.0,
            names.QUERY_BATCH_SECONDS: wall_s + 0.7,
            names.QUERY_INPUT_ROWS: 5000.0,
            names.QUERY_OTHER_BUSY_SECONDS: 2.0,
        }
        return [({}, known.get(name, 0.0))]


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
