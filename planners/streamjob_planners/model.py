"""The one model of all planners: nodes, key groups, their loads, and a plan as a value.

Loads are percent points of one reference node's capacity for the bottleneck resource over the statistics period.
The utilisation of node i is ``sum of its groups' loads / capacity[i]``; the mean is the total load of all nodes over
the total capacity of the unmarked nodes (ALBIC paper, table 2, with capacity weights of section 4.3.1 and without
its rounding up).
"""

from __future__ import annotations

import dataclasses
import enum
from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

import numpy as np
from scipy import sparse

from streamjob_planners.arrays import BoolArray as BoolArray  # noqa: PLC0414 - names of the model's arrays
from streamjob_planners.arrays import FloatArray as FloatArray  # noqa: PLC0414
from streamjob_planners.arrays import IntArray as IntArray  # noqa: PLC0414
from streamjob_planners.batch.shape import BatchShape

Clock = Callable[[], float]
"""Seconds from any origin, never going back; given to planners so that deadlines are arguments."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True, order=True)
class GroupId:
    """A key group: the operator's id and the partition within it."""

    operator: int
    partition: int


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Resource:
    """A resource beside the bottleneck one: no unmarked node may exceed its limit by a move (section 4.3.1)."""

    name: str
    use: FloatArray  # (n_groups,), any unit, >= 0
    limit: FloatArray  # (n_nodes,), the same unit, >= 0


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class LoadModel:
    """What a planner sees. Arrays are never mutated; a bad model raises ValueError with the field's name.

    Attributes:
        node_ids: executors, (n_nodes,).
        capacity: weight of each node, 1.0 is the reference node, > 0, (n_nodes,).
        marked: nodes marked for removal (the paper's set B), (n_nodes,).
        group_ids: key groups, (n_groups,); `columns.GroupIds` where there are very many.
        node_of: today's node of each group, an index into node_ids, (n_groups,).
        load: percent points of a reference node, >= 0, (n_groups,).
        load_error: standard error of `load`, >= 0, (n_groups,); None where it is exact, or nobody knows.
        migration_cost_s: expected pause of moving each group, >= 0 (the paper's mc_k), (n_groups,).
        state_bytes: bytes that a move loads, >= 0, (n_groups,).
        traffic: bytes/s from group i to group j, sparse (n_groups, n_groups), or None when nobody measured it. It may
            hold the heaviest pairs only.
        traffic_out: bytes/s that each group sends in all, at least its row of `traffic`, (n_groups,); None where
            `traffic` holds every pair.
        traffic_partners: key groups that each group may send to, those of all operators downstream of its own,
            (n_groups,); None where `traffic` tells which operators these are.
        traffic_load_ratio: percent points of load saved at EACH end per byte/s that becomes local; 0.0 when unknown.
        pinned: groups that must stay where they are, (n_groups,).
        resources: further resources with hard limits.
        batch: what a batch takes, for the objective `batchTime`; None for engines whose operators run all the time.
        load_series: load of each group in each of the last windows, oldest first, percent points,
            (n_windows, n_groups); None when nobody kept it.
        queries: where operators belong to several queries, each operator's query and its number there.
    """

    node_ids: tuple[str, ...]
    capacity: FloatArray
    marked: BoolArray
    group_ids: Sequence[GroupId]
    node_of: IntArray
    load: FloatArray
    migration_cost_s: FloatArray
    state_bytes: FloatArray
    traffic: sparse.csr_array | None = None
    traffic_out: FloatArray | None = None
    traffic_partners: IntArray | None = None
    traffic_load_ratio: float = 0.0
    pinned: BoolArray
    resources: tuple[Resource, ...] = ()
    batch: BatchShape | None = None
    load_series: FloatArray | None = None
    load_error: FloatArray | None = None
    queries: Mapping[int, tuple[str, int]] = dataclasses.field(default_factory=dict)

    def __post_init__(self) -> None:
        _check_lengths(self)
        _check_values(self)

    @property
    def n_nodes(self) -> int:
        """Number of nodes, marked ones included."""
        return len(self.node_ids)

    @property
    def n_groups(self) -> int:
        """Number of key groups."""
        return len(self.group_ids)


def _check_lengths(model: LoadModel) -> None:
    per_node = {"capacity": model.capacity, "marked": model.marked}
    per_node |= {f"resources: limit of {one.name}": one.limit for one in model.resources}
    per_group = {
        **{f"resources: use of {one.name}": one.use for one in model.resources},
        "node_of": model.node_of,
        "load": model.load,
        "migration_cost_s": model.migration_cost_s,
        "state_bytes": model.state_bytes,
        "pinned": model.pinned,
    }
    optional = ("traffic_out", "traffic_partners", "load_error")
    for name, wanted in ((one, getattr(model, one)) for one in optional):
        if wanted is not None:
            per_group[name] = wanted
    for names, length in ((per_node, model.n_nodes), (per_group, model.n_groups)):
        for name, array in names.items():
            if array.shape != (length,):
                raise ValueError(f"{name}: shape {array.shape} given, ({length},) is needed")
    traffic, square = model.traffic, (model.n_groups, model.n_groups)
    if traffic is not None and traffic.shape != square:
        raise ValueError(f"traffic: shape {traffic.shape} given, {square} is needed")
    series = model.load_series
    if series is not None and (series.ndim != 2 or series.shape[1] != model.n_groups):
        raise ValueError(f"load_series: shape {series.shape} given, (n_windows, {model.n_groups}) is needed")
    if model.batch is not None:
        model.batch.check_shapes(model.n_nodes, model.n_groups)


def _check_values(model: LoadModel) -> None:
    if not model.node_ids or bool(model.marked.all()):
        raise ValueError("marked: at least one node must be unmarked")
    if not bool((model.capacity > 0).all() and np.isfinite(model.capacity).all()):
        raise ValueError("capacity: every weight must be a finite number above 0")
    amounts = {name: getattr(model, name) for name in ("load", "migration_cost_s", "state_bytes")}
    amounts["traffic_load_ratio"] = np.array(model.traffic_load_ratio)
    for name in ("traffic_out", "load_error", "load_series"):
        if getattr(model, name) is not None:
            amounts[name] = getattr(model, name)
    if model.traffic is not None:
        amounts["traffic"] = model.traffic.data
    for one in model.resources:
        amounts |= {f"resources: use of {one.name}": one.use, f"resources: limit of {one.name}": one.limit}
    for name, array in amounts.items():
        if not bool(np.isfinite(array).all() and (array >= 0).all()):
            raise ValueError(f"{name}: every value must be a finite number of 0 or more")
    if model.n_groups and not 0 <= model.node_of.min() <= model.node_of.max() < model.n_nodes:
        raise ValueError(f"node_of: every value must be an index from 0 to {model.n_nodes - 1}")


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """What one plan may cost (constraint (2) of the MILP); None is no limit."""

    max_cost_s: float | None = None
    max_migrations: int | None = None
    max_state_bytes: float | None = None


class Objective(enum.StrEnum):
    """What a plan makes small."""

    BATCH_TIME = "batchTime"  # seconds of a batch; the load distance where a model has no `batch`
    LOAD_DISTANCE = "loadDistance"  # the paper's d


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class PlanParams:
    """What every planner is told beside the model.

    Attributes:
        budget: limits of this round.
        objective: what is made small; `objective_of` says which one holds for a model.
        payback_batches: batches within which a move must gain the seconds that it costs; objective `batchTime` only.
        least_gain_ratio: part of a batch that is not worth planning for: a search ends the sooner, the less above that
            may still be won; 0 leaves nothing to be won. Objective `batchTime` only.
        max_load_distance: percent points (the paper's maxLD, default 10); a planner may stop improving below
            `tolerance`, but never trades collocation for a distance above this.
        tolerance: percent points of load distance that are not worth a move (a pure min-d solve would otherwise
            spend its whole budget every round on polishing).
        price_per_move: percent points of load distance that one move must gain to be worth making; this and
            `tolerance` hold for the objective `loadDistance` only.
        deadline_s: seconds after which the best plan so far is returned.
        max_iterations: a limit that does not depend on the clock, so that a replay gives the same plan.
        before: the planner that made the plan before, for one that chooses among others; None for none.
    """

    budget: Budget = Budget()
    objective: Objective = Objective.BATCH_TIME
    payback_batches: float = 10.0
    least_gain_ratio: float = 0.0
    max_load_distance: float = 10.0
    tolerance: float = 0.5
    price_per_move: float = 0.0
    deadline_s: float = 1.0
    max_iterations: int | None = None
    before: str | None = None

    def objective_of(self, model: LoadModel) -> Objective:
        """The objective that holds for a model: batch time only where it says what a batch takes."""
        return self.objective if model.batch is not None else Objective.LOAD_DISTANCE


class MoveReason(enum.StrEnum):
    """Why one key group moves."""

    DRAIN = "Drain"  # its node is marked for removal
    RELIEVE = "Relieve"  # its node is above the mean
    FILL = "Fill"  # its new node is below the mean
    COLLOCATE = "Collocate"  # it joins a key group it talks to
    SWAP = "Swap"  # makes room for another move


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Move:
    """One key group from one node to another, with its reason and price. Indices are those of the model."""

    group: int
    source: int
    target: int
    reason: MoveReason
    cost_s: float
    state_bytes: float
    load: float


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Effect:
    """What a placement is worth: computed by `measures.effect`, never by a planner's own bookkeeping.

    `load_distance` in percent points of utilisation; `collocation_factor` in percent of the traffic, None without
    traffic; `marked_groups` counts key groups that are still on marked nodes. Of models with a `batch`: `batch_s` is
    the length of a batch in which every task takes its mean, `noise_s` what chance adds to it, and `level_rms_s` the
    second measure, which a plan lowers that cannot lower `batch_s`: over levels, the sum of the root mean square of the
    nodes' seconds. None without one.
    """

    load_distance: float
    load_index: float
    mean: float
    max_load: float
    marked_groups: int
    collocation_factor: float | None
    batch_s: float | None = None
    noise_s: float | None = None
    level_rms_s: float | None = None

    @property
    def expected_s(self) -> float | None:
        """The batch as it is to be expected, None without a `batch`."""
        return None if self.batch_s is None or self.noise_s is None else self.batch_s + self.noise_s

    @property
    def seconds(self) -> tuple[float, float]:
        """The batch and the second measure, seconds; raises ValueError without a `batch`, as nothing predicts them."""
        if self.batch_s is None or self.level_rms_s is None:
            raise ValueError("effect: it predicts no batches")
        return self.batch_s, self.level_rms_s


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """A value: it can be printed, compared, stored, replayed and refused.

    Attributes:
        planner: the registry's name of the planner that made it.
        choice: which planner was chosen and why, a sentence; None where nobody chose.
        node_of: the new node of each group, (n_groups,).
        moves: in the order in which they should be made: drains and reliefs that help most come first; planners give
            `columns.Moves`, which are arrays.
        before, after: today's and the predicted effect.
        lower_bound: proven lower bound on the load distance under this budget, percent points; None if not computed.
        batch_bound_s: proven lower bound on the batch time (`Effect.batch_s`) under this budget; None if not computed.
        proven_optimal: True when a solver proved that no plan within the budget is better by the objective.
        notes: sentences for a person: what limited the plan (skew floor, budget, deadline, fallback).
        elapsed_s: time that solving took.
    """

    planner: str
    node_of: IntArray
    moves: Sequence[Move]
    before: Effect
    after: Effect
    lower_bound: float | None
    proven_optimal: bool
    notes: tuple[str, ...]
    elapsed_s: float
    batch_bound_s: float | None = None
    choice: str | None = None

    @property
    def gap(self) -> float | None:
        """How far the load distance is above what is proven, percent points, 0 or more; None without a bound."""
        return None if self.lower_bound is None else max(0.0, self.after.load_distance - self.lower_bound)

    @property
    def cost_s(self) -> float:
        """Expected pause of all moves together."""
        return sum(move.cost_s for move in self.moves)


class Planner(Protocol):
    """One way to plan. Same model, params and rng state: same plan (under max_iterations)."""

    @property
    def name(self) -> str:
        """Name in the registry."""

    def solve(self, model: LoadModel, params: PlanParams, rng: np.random.Generator, clock: Clock) -> Plan:
        """Plan within params.deadline_s; never worse than changing nothing. Raises ValueError on bad input."""
