"""The dynamic experiments of section 6.2: chains under rates that rise and fall, and who balances them (table 6.2)."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

import numpy as np

from benchmarks.kept import Array
from benchmarks.queueing import BIN_S, State, advance, moving, new_state, schedule_moves
from streamjob_planners.correlation.mapping import Mapping, mapping_of, node_correlations
from streamjob_planners.correlation.pairwise import balance_pairs, one_way
from streamjob_planners.correlation.scores import largest_first

Change = Callable[[Mapping], None]
"""What an algorithm does to a mapping plan, in one go."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """Table 6.2, and what it leaves out: lengths of run and warm-up.

    From `later_s` on the load level is `later_load`, if there is one: all rates grow alike, or are drawn anew.
    """

    n_nodes: int = 20
    per_node: int = 10
    length: int = 10
    period_s: float = 10.0
    high_over_low: float = 4.0
    migration_s: float = 0.2
    window_s: float = 10.0
    samples: int = 10
    service_s: float = 0.001
    warm_up_s: int = 30
    duration_s: int = 240
    load: float = 0.8
    later_load: float | None = None
    later_s: int = 60
    redrawn: bool = False
    bursty: bool = False
    connected: bool = False
    seed: int = 1

    @property
    def n_chains(self) -> int:
        """Chains of `length` operators."""
        return max(1, self.n_nodes * self.per_node // self.length)


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """Figures of one run, counted after the warm-up.

    `latency_ratio`: mean latency over the processing time of a chain. Series have one value a second, (n_seconds,):
    seconds of latency, load moved in nodes, mean standard deviation of the nodes' load, mean correlation of two nodes,
    and the least possible standard deviation, that of all load over the number of nodes (theorem 1).
    """

    latency_ratio: float
    latency_s: Array
    moved: Array
    node_sd: Array
    correlation: Array
    minimum_sd: Array
    lost: int


def selectivities(setting: Setting) -> np.ndarray:
    """Of each operator, uniform in 0.8 to 1.2, (n_operators,)."""
    rng = np.random.default_rng([setting.seed, 1])
    return rng.uniform(0.8, 1.2, setting.n_chains * setting.length)


def mean_rates(setting: Setting, selectivity: np.ndarray, load: float, draw: int = 2) -> np.ndarray:
    """Drawn from U(0.8, 1.2) and scaled to the system load level, tuples/s, (n_chains,)."""
    rates = np.random.default_rng([setting.seed, draw]).uniform(0.8, 1.2, setting.n_chains)
    per_tuple = np.cumprod(selectivity.reshape(setting.n_chains, -1), axis=1)
    work = 1.0 + per_tuple[:, :-1].sum(axis=1)
    busy = (rates * work).sum() * setting.service_s / setting.n_nodes
    return rates * load / busy


def arrivals(setting: Setting, selectivity: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Times of all tuples, ascending, and the chain of each."""
    rng = np.random.default_rng([setting.seed, 3])
    calm = mean_rates(setting, selectivity, setting.load)
    later = calm
    if setting.later_load is not None:
        later = mean_rates(setting, selectivity, setting.later_load, 6 if setting.redrawn else 2)
    levels = _bursts(setting, rng) if setting.bursty else _waves(setting, rng)
    times, chains = [], []
    for chain, level in enumerate(levels):
        edges = np.arange(level.size) * BIN_S
        rate = level * np.where(edges >= setting.later_s, later[chain], calm[chain])
        found = _regular(rate) if setting.bursty else _poisson(rate, rng)
        times.append(found)
        chains.append(np.full(found.size, chain))
    order = np.argsort(np.concatenate(times), kind="stable")
    return np.concatenate(times)[order], np.concatenate(chains)[order]


def _waves(setting: Setting, rng: np.random.Generator) -> np.ndarray:
    """High and low rates in turn, each for half of the period, offsets uniform, of mean 1, (n_chains, n_bins)."""
    at = np.arange(round(setting.duration_s / BIN_S)) * BIN_S
    offset = rng.uniform(0.0, setting.period_s, (setting.n_chains, 1))
    low = 2.0 / (1.0 + setting.high_over_low)
    return np.where((at + offset) % setting.period_s < setting.period_s / 2, low * setting.high_over_low, low)


def _bursts(setting: Setting, rng: np.random.Generator) -> np.ndarray:
    """On and off for exponential times of mean 5 s, of mean about 1, (n_chains, n_bins).

    A third of the streams are drawn; the others are the opposite of one of these, or the same at another time.
    """
    n_bins, mean_bins = round(setting.duration_s / BIN_S), 5.0 / BIN_S
    own = max(1, setting.n_chains // 3)
    table = np.zeros((setting.n_chains, n_bins))
    for chain in range(setting.n_chains):
        if chain < own:
            ends = np.cumsum(rng.exponential(mean_bins, 2 * n_bins // int(mean_bins) + 50))
            table[chain] = 2.0 * ((np.searchsorted(ends, np.arange(n_bins)) + rng.integers(2)) % 2)
        elif chain % 2:
            table[chain] = 2.0 - table[rng.integers(own)]
        else:
            table[chain] = np.roll(table[rng.integers(own)], int(rng.integers(n_bins)))
    return table


def _poisson(rate: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Exponential times between tuples: as many as a Poisson law says in every bin, uniform within, ascending."""
    counts = rng.poisson(rate * BIN_S)
    return np.sort(np.repeat(np.arange(rate.size), counts) + rng.random(counts.sum())) * BIN_S


def _regular(rate: np.ndarray) -> np.ndarray:
    """Tuples at equal distances while there are any."""
    total = np.concatenate(([0.0], np.cumsum(rate * BIN_S)))
    return np.interp(np.arange(0.5, total[-1]), total, np.arange(total.size) * BIN_S)


def first_places(setting: Setting) -> np.ndarray:
    """Random equal counts, or every chain on a node of its own, (n_operators,)."""
    n_operators = setting.n_chains * setting.length
    if setting.connected:
        return np.arange(n_operators) // setting.length % setting.n_nodes
    return np.random.default_rng([setting.seed, 4]).permutation(n_operators) % setting.n_nodes


def run(setting: Setting, at_start: Change | None, every_second: Change | None) -> Outcome:
    """`at_start` once after the warm-up; `every_second` from then on, while no operator is on the move."""
    selectivity = selectivities(setting)
    state = new_state(
        setting.n_nodes,
        first_places(setting),
        selectivity,
        setting.length,
        arrivals(setting, selectivity),
        setting.duration_s,
        setting.seed,
        setting.service_s,
    )
    moved, spread, together, least = np.zeros((4, setting.duration_s))
    for second in range(1, setting.duration_s + 1):
        advance(state, float(second))
        mapping = _observed(setting, state, second)
        spread[second - 1] = float(mapping.total.std(axis=1).mean())
        least[second - 1] = float(mapping.total.sum(axis=0).std()) / setting.n_nodes
        table = node_correlations(mapping)
        together[second - 1] = table[np.triu_indices(len(table), 1)].mean() if len(table) > 1 else 1.0
        change = _due(setting, second, at_start, every_second)
        if change is not None and not moving(state):
            before = mapping.node_of.copy()
            change(mapping)
            moved[second - 1] = mapping.mean[mapping.node_of != before].sum()
            schedule_moves(state, mapping.node_of, setting.migration_s)
    return _outcome(setting, state, np.array([moved, spread, together, least]))


def _observed(setting: Setting, state: State, second: int) -> Mapping:
    """The load of every operator in the windows so far, parts of a node, as a mapping.

    Computed from the rates of the system's inputs, costs and selectivities (section 3.1.1): what arrives at operators
    behind an overloaded node would tell how long its queue is, not what there is to do.
    """
    until = round(second / BIN_S)
    sample = min(until, max(1, round(setting.window_s / setting.samples / BIN_S)))
    count = min(setting.samples, until // sample)
    inputs = state.arrived[until - count * sample : until, :: setting.length]
    rate = inputs.reshape(count, sample, -1).sum(axis=1) / (sample * BIN_S)
    chains = state.selectivity.reshape(setting.n_chains, setting.length)
    per_tuple = np.cumprod(np.hstack((np.ones((setting.n_chains, 1)), chains[:, :-1])), axis=1) * setting.service_s
    load = rate[:, :, None] * per_tuple
    series = np.ascontiguousarray(load.reshape(count, -1).T)
    return mapping_of(series, state.node_of, np.ones(setting.n_nodes))


def _due(setting: Setting, second: int, at_start: Change | None, every_second: Change | None) -> Change | None:
    if second < setting.warm_up_s:
        return relieve if second >= setting.window_s else None
    if second == setting.warm_up_s and at_start is not None:
        return at_start
    risen = setting.later_load is None or second >= setting.later_s
    return every_second if risen else None


def relieve(mapping: Mapping) -> None:
    """During the warm-up a node only sends load away if it is overloaded."""
    if (mapping.use() > 1.0).any():
        step = one_way(largest_first)
        balance_pairs(
            mapping, 0.1, lambda m, heavy, light: step(m, heavy, light) if m.use()[heavy] > 1.0 else None, lambda: False
        )


def _outcome(setting: Setting, state: State, seconds: np.ndarray) -> Outcome:
    start = setting.warm_up_s if setting.later_load is None else setting.later_s
    counted = state.out[start : setting.duration_s]
    moved, spread, together, least = seconds
    mean = counted[:, 1].sum() / max(counted[:, 0].sum(), 1.0)
    return Outcome(
        latency_ratio=float(mean / (setting.length * setting.service_s)),
        latency_s=counted[:, 1] / np.maximum(counted[:, 0], 1.0),
        moved=moved[start - 1 :],
        node_sd=spread[start:],
        correlation=together[start:],
        minimum_sd=least[start:],
        lost=int(state.cursor[2]),
    )
