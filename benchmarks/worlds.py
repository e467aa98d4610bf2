"""The simulated worlds of the ALBIC paper's section 5: nodes, key groups, their loads and who talks to whom.

The paper gives percentages, not units: here a node at the mean has 50 points of load. What the paper leaves out is said
at each function. Every world is made from a seed and holds no state; a round gives a new world.
"""

from __future__ import annotations

import dataclasses

import numpy as np
from scipy import sparse

from streamjob_planners.columns import GroupIds
from streamjob_planners.model import BoolArray, FloatArray, IntArray, LoadModel

MEAN_LOAD = 50.0
STATE_BYTES = 1e6
PAUSE_S = 2.5
"""Mean pause of one migrated key group (paper, section 5.2.2)."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class World:
    """The truth that a load model measures.

    Attributes:
        operator_of: operator of each key group, (n_groups,).
        base_load: load of each key group without the price of remote traffic, percent points, (n_groups,).
        traffic: bytes/s, (n_groups, n_groups), or None.
        traffic_load_ratio: percent points at each end per remote byte/s.
        node_of: owner of each key group, (n_groups,).
        marked: nodes marked for removal, (n_nodes,).
    """

    operator_of: IntArray
    base_load: FloatArray
    node_of: IntArray
    marked: BoolArray
    traffic: sparse.csr_array | None = None
    traffic_load_ratio: float = 0.0

    @property
    def n_nodes(self) -> int:
        """Number of nodes."""
        return int(self.marked.size)

    def load(self) -> FloatArray:
        """Load of each key group where it is now, remote traffic included, (n_groups,)."""
        if self.traffic is None or self.traffic_load_ratio == 0.0:
            return self.base_load
        edges = sparse.coo_array(self.traffic)
        remote = np.where(self.node_of[edges.row] != self.node_of[edges.col], edges.data, 0.0)
        n_groups = self.base_load.size
        ends = np.bincount(edges.row, remote, n_groups) + np.bincount(edges.col, remote, n_groups)
        return np.asarray(self.base_load + self.traffic_load_ratio * ends)

    def model(self) -> LoadModel:
        """What the agents would measure over one statistics period."""
        n_groups = self.base_load.size
        return LoadModel(
            node_ids=tuple(f"n{i}" for i in range(self.n_nodes)),
            capacity=np.ones(self.n_nodes),
            marked=self.marked,
            group_ids=GroupIds(operator=self.operator_of, partition=_partitions(self.operator_of)),
            node_of=self.node_of,
            load=self.load(),
            migration_cost_s=np.full(n_groups, PAUSE_S),
            state_bytes=np.full(n_groups, STATE_BYTES),
            traffic=self.traffic,
            traffic_load_ratio=self.traffic_load_ratio,
            pinned=np.zeros(n_groups, dtype=np.bool_),
        )

    def placed(self, node_of: IntArray) -> World:
        """The same world after its key groups moved."""
        return dataclasses.replace(self, node_of=node_of)


def _partitions(operator_of: IntArray) -> IntArray:
    """Numbers the key groups of each operator from 0, in their order, (n_groups,)."""
    order = np.argsort(operator_of, kind="stable")
    first = np.searchsorted(operator_of[order], operator_of[order])
    numbers = np.empty(order.size, dtype=np.int64)
    numbers[order] = np.arange(order.size) - first
    return numbers


def even_placement(n_nodes: int, n_groups: int, rng: np.random.Generator) -> IntArray:
    """Every node has the same number of key groups, drawn at random, (n_groups,)."""
    return rng.permutation(np.arange(n_groups, dtype=np.int64) % n_nodes)


def solver_world(n_nodes: int, n_groups: int, n_operators: int, varies: float, seed: int) -> World:
    """Section 5.1: loads within 5 % of the mean, then a tenth of the nodes up and a tenth down by varies / 2 points.

    The paper says that a randomly selected set of a node's key groups carries the change; here half of them, more
    where half cannot give that much.
    """
    rng = np.random.default_rng(seed)
    node_of = even_placement(n_nodes, n_groups, rng)
    load = MEAN_LOAD * n_nodes / n_groups * (1.0 + rng.uniform(-0.05, 0.05, n_groups))
    changed = rng.permutation(n_nodes)[: n_nodes // 5]
    for rank, node in enumerate(changed):
        change = 0.5 * varies if rank % 2 else -0.5 * varies
        _change_load(load, rng.permutation(np.flatnonzero(node_of == node)), change)
    return World(
        operator_of=np.arange(n_groups, dtype=np.int64) * n_operators // n_groups,
        base_load=load,
        node_of=node_of,
        marked=np.zeros(n_nodes, dtype=np.bool_),
    )


def _change_load(load: FloatArray, members: IntArray, change: float) -> None:
    """Spreads `change` points over the first half of the members, over more where their load would fall below 0."""
    count = max(members.size // 2, 1)
    while count < members.size and load[members[:count]].sum() + change < 0.0:
        count += 1
    chosen = members[:count]
    total = float(load[chosen].sum())
    load[chosen] *= max(total + change, 0.0) / total


def scale_in_world(n_overloaded: int, seed: int) -> World:
    """Figure 5: 60 nodes, 1200 key groups, ten nodes marked, some others at 100 points of load."""
    world = solver_world(60, 1200, 30, 0.0, seed)
    rng = np.random.default_rng([seed, n_overloaded])
    nodes = rng.permutation(60)
    load = world.base_load.copy()
    for node in nodes[10 : 10 + n_overloaded]:
        members = world.node_of == node
        load[members] *= 100.0 / load[members].sum()
    marked = np.isin(np.arange(60), nodes[:10])
    return dataclasses.replace(world, base_load=load, marked=marked)


def collocation_world(
    n_nodes: int, n_groups: int, n_operators: int, one_to_one_pct: float, seed: int, *, chain: bool
) -> World:
    """Section 5.3: x percent of each sending operator's key groups send to one key group, the others evenly to all.

    The paper does not give the topology: either every second operator sends to the next (pairs), or each to the next
    (chain). Every sending key group sends 1000 bytes/s.
    """
    world = solver_world(n_nodes, n_groups, n_operators, 0.0, seed)
    rng = np.random.default_rng([seed, int(one_to_one_pct)])
    width = n_groups // n_operators
    links = []
    one_to_one = round(width * one_to_one_pct / 100.0)
    for sender in range(0, n_operators - 1, 1 if chain else 2):
        direct = rng.permutation(width)[:one_to_one]
        links.append(link(sender * width, (sender + 1) * width, width, direct, 1000.0))
    return dataclasses.replace(world, traffic=join_links(links, n_groups))


def link(first: int, second: int, width: int, direct: IntArray, rate: float) -> sparse.coo_array:
    """Traffic of one stream: key groups first + i to second + j; `direct` ones to one partner, the others to all."""
    full = np.setdiff1d(np.arange(width), direct)
    row = np.concatenate((direct, np.repeat(full, width)))
    col = np.concatenate((direct, np.tile(np.arange(width), full.size)))
    data = np.concatenate((np.full(direct.size, rate), np.full(full.size * width, rate / width)))
    size = max(first, second) + width
    return sparse.coo_array((data, (row + first, col + second)), shape=(size, size))


def join_links(links: list[sparse.coo_array], n_groups: int) -> sparse.csr_array:
    """One traffic matrix of all streams, (n_groups, n_groups)."""
    row = np.concatenate([one.row for one in links])
    col = np.concatenate([one.col for one in links])
    data = np.concatenate([one.data for one in links])
    return sparse.csr_array(sparse.coo_array((data, (row, col)), shape=(n_groups, n_groups)))


def drift(world: World, rng: np.random.Generator, share: float = 0.2, size: float = 0.02) -> World:
    """Section 5.3: before each round the load of a fifth of the nodes changes by up to 2 percent."""
    nodes = rng.permutation(world.n_nodes)[: round(share * world.n_nodes)]
    factor = np.ones(world.n_nodes)
    factor[nodes] += rng.uniform(-size, size, nodes.size)
    return dataclasses.replace(world, base_load=world.base_load * factor[world.node_of])


def collocation_pct(world: World) -> float:
    """Percent of the traffic that stays on a node; 0 without traffic."""
    if world.traffic is None:
        return 0.0
    edges = sparse.coo_array(world.traffic)
    local = world.node_of[edges.row] == world.node_of[edges.col]
    return float(100.0 * edges.data[local].sum() / edges.data.sum())


def load_distance(world: World) -> float:
    """Largest difference of an unmarked node's load to the mean, percent points."""
    loads = np.bincount(world.node_of, weights=world.load(), minlength=world.n_nodes)
    kept = ~world.marked
    return float(np.abs(loads[kept] - loads.sum() / kept.sum()).max())
