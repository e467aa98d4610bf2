"""Clusters against figure 4.15 done by hand, planes of communication and bandwidth, theorem 3, and the sweep."""

from __future__ import annotations

import math

import numpy as np
import pytest

from streamjob_planners.rod.clustered import clustered_rod, merged, nearest_plane, set_size
from streamjob_planners.rod.clustering import Policy, Thresholds, clusters
from streamjob_planners.rod.distance import plane_distances
from streamjob_planners.rod.feasible import feasible_ratio
from streamjob_planners.rod.linear import LinearModel
from streamjob_planners.rod.network import Network, abundant, all_planes
from streamjob_planners.rod.placing import rod

NEVER = math.inf


def chain(cpu: list[float], *, n_nodes: int = 2, size: float = 0.0, limit: float = math.inf) -> tuple:
    """Operators of load 1 in a row on one source; stream t costs cpu[t] of communication and `size` bytes."""
    n = len(cpu) + 1
    model = LinearModel(coefficients=np.ones((n, 1)), capacity=np.full(n_nodes, 10.0))
    network = Network(
        ends=np.array([[t, t + 1] for t in range(n - 1)]),
        cpu=np.array(cpu)[:, None],
        bytes=np.full((n - 1, 1), size),
        node_limit=np.full(n_nodes, limit),
        total_limit=limit * n_nodes,
    )
    return model, network


def slow_clusters(model: LinearModel, network: Network, eta: float, psi: float, policy: Policy) -> set[frozenset[int]]:
    """Figure 4.15 with sets: join the first candidate until there is none."""
    groups = [{j} for j in range(len(model.coefficients))]
    total = model.total.tolist()
    streams = [(int(u), int(v), cost.tolist()) for (u, v), cost in zip(network.ends, network.cpu, strict=True)]

    def load(group: set[int]) -> list[float]:
        return [math.fsum(model.coefficients[j, k] for j in group) for k in range(len(total))]

    def ratio(cost: list[float], group: set[int]) -> float:
        own = load(group)
        return max(c / o if o > 0 else (math.inf if c > 0 else 0.0) for c, o in zip(cost, own, strict=True))

    while True:
        found = []
        for t, (u, v, cost) in enumerate(streams):
            a, b = (next(g for g in groups if j in g) for j in (u, v))
            if a is b:
                continue
            weight = max(model.n_nodes * x / y for x, y in zip(load(a | b), total, strict=True) if y > 0)
            worst = max(ratio(cost, a), ratio(cost, b))
            if worst > eta and weight < psi:
                key = weight if policy is Policy.MIN_WEIGHT else -worst
                found.append((key, t, a, b))
        if not found:
            return {frozenset(g) for g in groups}
        _, _, a, b = min(found, key=lambda one: one[:2])
        groups = [g for g in groups if g is not a and g is not b] + [a | b]


@pytest.mark.parametrize("policy", [Policy.CPU_RATIO, Policy.MIN_WEIGHT])
@pytest.mark.parametrize("seed", range(15))
def test_clusters_are_those_of_the_listing(seed, policy):
    rng = np.random.default_rng(seed)
    n, d = 10, 2
    model = LinearModel(coefficients=rng.uniform(0.1, 1.0, (n, d)), capacity=np.ones(3))
    ends = np.array([[int(rng.integers(0, v)), v] for v in range(1, n)])
    cpu = rng.uniform(0.0, 0.8, (n - 1, d))
    network = Network(
        ends=ends, cpu=cpu, bytes=np.zeros_like(cpu), node_limit=np.full(3, math.inf), total_limit=math.inf
    )
    eta, psi = rng.uniform(0.2, 0.9), rng.uniform(0.6, 2.0)
    label = clusters(model, network, Thresholds(cpu=eta, bytes=NEVER, weight=psi), policy)
    found = {frozenset(np.flatnonzero(label == one).tolist()) for one in range(int(label.max()) + 1)}
    assert found == slow_clusters(model, network, eta, psi, policy)


def test_the_costliest_stream_is_joined_first_and_weights_stay_below_the_bound():
    model, network = chain([0.3, 0.9, 0.5])
    limits = Thresholds(cpu=0.2, bytes=NEVER, weight=1.1)  # two of four operators weigh 2 * 2 / 4 = 1
    assert clusters(model, network, limits, Policy.CPU_RATIO).tolist() == [0, 1, 1, 2]


def test_each_ratio_has_its_own_threshold():
    model, network = chain([0.3, 0.3], size=5.0, limit=10.0)  # capacity is 10 too
    only_bytes = Thresholds(cpu=0.9, bytes=1.0, weight=10.0)
    assert clusters(model, network, only_bytes, Policy.BYTES_RATIO).tolist() == [0, 0, 0]
    neither = Thresholds(cpu=0.9, bytes=9.0, weight=10.0)
    assert clusters(model, network, neither, Policy.BYTES_RATIO).tolist() == [0, 1, 2]


def test_planes_have_communication_at_both_ends_of_a_stream_between_nodes():
    model, network = chain([0.5])
    apart, together = (all_planes(model, network, np.array(one)) for one in ([0, 1], [0, 0]))
    assert apart.tolist() == [[1.25], [1.25]]  # half of the load, plus a quarter of 0.5, over half of the capacity
    assert together.tolist() == [[2.0], [0.0]]


def test_planes_of_bandwidth_are_those_of_each_node_and_of_all():
    model, network = chain([0.0], size=3.0, limit=5.0)
    planes = all_planes(model, network, np.array([0, 1]))
    # x = 2 r / 20: one unit of x is a rate of 10, which are 30 bytes at each node of 5, and 30 in all of 10.
    assert planes[2:].tolist() == [[6.0], [6.0], [3.0]]


def test_theorem_3_as_the_text_means_it():
    for limit, expected in ((100.0, True), (1.0, False)):
        model, network = chain([0.0, 0.0], size=3.0, limit=limit)
        assert abundant(model, network) is expected


def test_where_bandwidth_is_abundant_it_never_decides():
    rng = np.random.default_rng(1)
    model, network = chain([0.0] * 5, size=3.0, limit=100.0)
    assert abundant(model, network)
    for _ in range(30):
        planes = all_planes(model, network, rng.integers(0, 2, 6))
        assert planes[:2].max() >= planes[2:].max()


def test_the_sweep_is_never_behind_plain_rod_and_ahead_where_streams_are_dear():
    def farthest(model, network, node_of):
        return plane_distances(all_planes(model, network, node_of)).min()

    for cost in (0.0, 0.5, 2.0):
        model, network = chain([cost] * 11, n_nodes=3)
        ours = farthest(model, network, clustered_rod(model, network))
        plain = farthest(model, network, rod(model))
        assert ours >= plain
        assert cost < 1.0 or ours > plain


def test_the_judge_of_set_sizes_keeps_the_largest_set():
    model, network = chain([0.5] * 11, n_nodes=3)
    kept = {
        judge: feasible_ratio(all_planes(model, network, clustered_rod(model, network, judge=judge)))
        for judge in (nearest_plane(), set_size())
    }
    by_plane, by_size = kept.values()
    assert by_size >= by_plane > 0.0


def test_super_operators_add_up_their_members():
    model, _ = chain([0.0, 0.0])
    assert merged(model, np.array([0, 1, 0])).coefficients.tolist() == [[2.0], [1.0]]
