"""The queueing simulation against a slow one with lists and a heap, and against the M/D/1 formula."""

from __future__ import annotations

import heapq
import itertools

import numpy as np
import pytest

pytest.importorskip("numba")
queueing = pytest.importorskip("benchmarks.queueing")

LENGTH, DURATION_S, SERVICE_S = 3, 6, 0.02


class Slow:
    """Events in a heap, queues as lists. Of events at one time: moves, then the nodes in their order, then arrivals."""

    def __init__(self, n_nodes, node_of, came, moves):
        self.places, self.away = list(node_of), {}
        self.queues, self.busy = [[] for _ in range(n_nodes)], [None] * n_nodes
        self.found, self.events, self.order = [], [], itertools.count()
        for t, chain in came:
            self.push(t, 10_000, self.wait, chain * LENGTH, t)
        for t, operator, target in moves:
            self.push(t, -1, self.leave, operator, target)

    def push(self, t, rank, what, *told):
        heapq.heappush(self.events, (t, rank, next(self.order), what, told))

    def run(self):
        while self.events and self.events[0][0] < DURATION_S:
            self.now, _, _, what, told = heapq.heappop(self.events)
            what(*told)
        return self.found

    def serve(self, node):
        self.busy[node] = self.queues[node].pop(0) if self.queues[node] else None
        if self.busy[node]:
            self.push(self.now + SERVICE_S, node, self.done, node)

    def wait(self, operator, born):
        if operator in self.away:
            self.away[operator].append((operator, born))
            return
        node = self.places[operator]
        self.queues[node].append((operator, born))
        if self.busy[node] is None:
            self.serve(node)

    def leave(self, operator, target):
        queue = self.queues[self.places[operator]]
        self.away[operator] = [one for one in queue if one[0] == operator]
        self.queues[self.places[operator]] = [one for one in queue if one[0] != operator]
        self.push(self.now + 0.2, -1, self.come, operator, target)

    def come(self, operator, target):
        waiting, self.places[operator] = self.away.pop(operator), target
        for one in waiting:
            self.wait(*one)

    def done(self, node):
        operator, born = self.busy[node]
        self.serve(node)
        if (operator + 1) % LENGTH == 0:
            self.found.append((self.now, self.now - born))
        else:
            self.wait(operator + 1, born)


@pytest.mark.parametrize("seed", range(6))
def test_every_result_comes_when_the_slow_one_says(seed):
    rng = np.random.default_rng(seed)
    times = np.sort(rng.uniform(0.0, 5.0, 60))
    chains, node_of = rng.integers(0, 3, 60), rng.integers(0, 3, 9)
    state = queueing.new_state(3, node_of, np.ones(9), LENGTH, (times, chains), DURATION_S, seed, SERVICE_S)
    queueing.advance(state, 1.0)
    target = rng.integers(0, 3, 9)
    queueing.schedule_moves(state, target, 0.2)
    starts = state.start_s.copy()
    queueing.advance(state, float(DURATION_S))
    moves = [(float(starts[k]), k, int(target[k])) for k in range(9) if starts[k] < queueing.NEVER]
    found = Slow(3, node_of.tolist(), zip(times.tolist(), chains.tolist(), strict=True), moves).run()
    seconds = np.zeros((DURATION_S, 3))
    for now, latency in found:
        seconds[int(now)] += (1.0, latency, 0.0)
        seconds[int(now), 2] = max(seconds[int(now), 2], latency)
    assert len(found) > 30
    assert state.out[:DURATION_S] == pytest.approx(seconds, abs=1e-9)
    assert state.node_of.tolist() == target.tolist()
    assert not queueing.moving(state)


def test_one_operator_waits_as_an_m_d_1_queue_does():
    rng, load, duration_s = np.random.default_rng(1), 0.7, 400
    times = np.cumsum(rng.exponential(0.001 / load, int(duration_s * load / 0.001 * 1.01)))
    times = times[times < duration_s]
    chains = np.zeros(times.size, dtype=np.int64)
    state = queueing.new_state(1, np.zeros(1, dtype=np.int64), np.ones(1), 1, (times, chains), duration_s, 1)
    queueing.advance(state, float(duration_s))
    mean_s = state.out[:, 1].sum() / state.out[:, 0].sum()
    assert mean_s == pytest.approx(0.001 * (1 + load / (2 * (1 - load))), rel=0.03)


def test_selectivities_are_met_on_average():
    times = np.linspace(0.0, 99.0, 20_000)
    state = queueing.new_state(
        2, np.array([0, 1]), np.array([1.2, 1.0]), 2, (times, np.zeros(20_000, dtype=np.int64)), 100, 7, 0.0001
    )
    queueing.advance(state, 100.0)
    assert state.out[:, 0].sum() == pytest.approx(24_000, rel=0.02)
