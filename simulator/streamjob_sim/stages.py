"""The physics of one micro-batch: how many records each key group gets, and how long every task and stage takes."""

from __future__ import annotations

import dataclasses

import numpy as np

from streamjob_planners.batch.schedule import finish_s, turn_of
from streamjob_planners.model import FloatArray, GroupId, IntArray
from streamjob_sim.fleet import Fleet
from streamjob_sim.shapes import heated, noise, placed, shifted
from streamjob_sim.world import Operator, Traffic, World


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """What one batch brings: records in per key group (n_groups,), and what it takes from the source."""

    taken: float
    records: FloatArray


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Timing:
    """How long one batch takes: task seconds (n_groups,), of which on records and on loading; source work; length.

    `stage_s` is the length of each operator's stage, (n_operators,); `remote_bytes` is what each key group reads from
    other executors, (n_groups,). What cold executors take longer counts as loading: the agent tells both together.
    """

    task_s: FloatArray
    cpu_s: FloatArray
    loading_s: FloatArray
    stage_s: FloatArray
    other_busy_s: float
    length_s: float
    remote_bytes: FloatArray


class Stages:
    """The chain of operators; key groups are numbered operator after operator."""

    def __init__(self, world: World, rng: np.random.Generator) -> None:
        self._world = world
        self._share: list[tuple[FloatArray, FloatArray]] = []
        for operator in world.operators:
            inherits = self._share and operator.traffic is Traffic.ONE_TO_ONE
            if not inherits:
                share = placed(operator.skew, operator.partitions, rng)
                pair = (share, heated(share, operator.skew, rng))
            self._share.append(self._share[-1] if inherits else pair)
        ends = np.cumsum([operator.partitions for operator in world.operators]).tolist()
        self.slices = [slice(end - one.partitions, end) for end, one in zip(ends, world.operators, strict=True)]
        self.group_ids = tuple(
            GroupId(operator=index, partition=partition)
            for index, operator in enumerate(world.operators)
            for partition in range(operator.partitions)
        )
        self.rate = self._each([one.records_per_slot_second for one in world.operators])
        self.overhead_s = self._each([one.task_overhead_s for one in world.operators])

    def _each(self, values: list[float]) -> FloatArray:
        counts = [operator.partitions for operator in self._world.operators]
        return np.repeat(np.array(values, dtype=np.float64), counts)

    def work(self, taken: float, at_s: float, rng: np.random.Generator | None) -> Work:
        """Records of each key group when the source gives `taken` records; without chance what is to be expected."""
        records: list[FloatArray] = []
        total = taken
        for operator, pair in zip(self._world.operators, self._share, strict=True):
            if records and operator.traffic is Traffic.ONE_TO_ONE:
                spread = records[-1] / max(float(records[-1].sum()), 1e-300)
            else:
                share = pair[1] if at_s >= operator.skew.hot_from_s else pair[0]
                spread = shifted(share, operator.skew, at_s)
                spread = spread if rng is None else spread * noise(self._world.batch.noise, spread.size, rng)
            records.append(total * spread)
            total = float(records[-1].sum()) * operator.selectivity
        return Work(taken=taken, records=np.concatenate(records))

    def remote_bytes(self, records: FloatArray, owner: IntArray, n_executors: int) -> FloatArray:
        """Bytes that each key group reads from other executors, (n_groups,); the source's own are left out."""
        remote = np.zeros(records.size)
        for up, down, source, operator in self._pairs():
            sent = records[up] * source.selectivity * source.record_bytes
            if operator.traffic is Traffic.ONE_TO_ONE:
                remote[down] = np.where(owner[up] == owner[down], 0.0, sent)
                continue
            total = float(sent.sum())
            local = np.bincount(owner[up], sent, n_executors)[owner[down]] / total if total > 0 else 0.0
            received = total * records[down] / max(float(records[down].sum()), 1e-300)
            remote[down] = received * (1 - local)
        return remote

    def _pairs(self) -> list[tuple[slice, slice, Operator, Operator]]:
        operators = self._world.operators
        return list(zip(self.slices, self.slices[1:], operators, operators[1:], strict=False))

    def time(self, work: Work, owner: IntArray, loading_s: FloatArray, fleet: Fleet) -> Timing:
        """Stage after stage; `loading_s` is what the first task after a move takes longer, (n_groups,)."""
        pace, slots = fleet.pace(), fleet.slots()
        loading_s = loading_s + _starting_s(owner, fleet)
        cpu_s = work.records / self.rate * pace[owner]
        remote_bytes = self.remote_bytes(work.records, owner, slots.size)
        remote_s = remote_bytes / self._world.costs.remote_bytes_per_s
        cold_s = cpu_s * (1.0 - fleet.warm_pace()[owner] / pace[owner])
        task_s = self.overhead_s + cpu_s + remote_s + loading_s
        source_rate = self._world.batch.source_records_per_slot_second
        other_s = 0.0 if source_rate is None else work.taken / source_rate
        stage_s = np.array([finish_s(task_s[row], owner[row], slots).max() for row in self.slices], dtype=np.float64)
        length_s = self._world.batch.fixed_s + other_s / float(slots[fleet.ready()].sum()) + float(stage_s.sum())
        return Timing(
            task_s=task_s,
            cpu_s=cpu_s,
            loading_s=loading_s + cold_s,
            stage_s=stage_s,
            other_busy_s=other_s,
            length_s=length_s,
            remote_bytes=remote_bytes,
        )

    def traffic_cells(self, records: FloatArray) -> list[tuple[IntArray, IntArray, FloatArray]]:
        """Bytes between key groups (rows, columns, sizes) for the records of any number of batches."""
        cells = []
        for up, down, source, operator in self._pairs():
            rows, columns = np.arange(up.start, up.stop), np.arange(down.start, down.stop)
            sent = records[up] * source.selectivity * source.record_bytes
            if operator.traffic is Traffic.ONE_TO_ONE:
                cells.append((rows, columns, sent))
                continue
            part = records[down] / max(float(records[down].sum()), 1e-300)
            grid = np.meshgrid(rows, columns, indexing="ij")
            cells.append((grid[0].ravel(), grid[1].ravel(), np.outer(sent, part).ravel()))
        return cells


def _starting_s(owner: IntArray, fleet: Fleet) -> FloatArray:
    """What the first task on each slot of a cold executor takes longer, (n_groups,): classes are loaded then."""
    cold_s = fleet.cold_start_s()
    if not cold_s.any():
        return np.zeros(owner.size)
    return np.where(turn_of(owner) < fleet.slots()[owner], cold_s[owner], 0.0)
