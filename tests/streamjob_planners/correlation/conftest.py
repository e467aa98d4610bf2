"""The listings of chapter 5 once more, slowly: one operator and one sum at a time, in plain Python.

Written from the dissertation's text and figures, apart from the product. Equal scores: the heavier operator, then the
first one, as in the product; the dissertation leaves that open.
"""

from __future__ import annotations

import math
import statistics
from types import SimpleNamespace

import numpy as np
import pytest


def cor(a: list[float], b: list[float]) -> float:
    """Pearson's coefficient, 0 where one series is constant (as far as rounding can tell)."""
    if any(max(row) - min(row) <= 1e-9 * max(1e-300, *map(abs, row)) for row in (a, b)):
        return 0.0
    return statistics.correlation(a, b)


class Slow:
    """Nodes are lists of operators."""

    def __init__(self, series, node_of, capacity):
        self.y = [[float(v) for v in row] for row in series]
        self.c = [float(v) for v in capacity]
        self.nodes = [[j for j, node in enumerate(node_of) if node == i] for i in range(len(self.c))]

    def x(self, i, without=None):
        rows = [self.y[j] for j in sorted(self.nodes[i]) if j != without]
        return [math.fsum(column) for column in zip(*rows, strict=True)] if rows else [0.0] * len(self.y[0])

    def mean(self, j):
        return statistics.fmean(self.y[j])

    def load(self, i):
        return statistics.fmean(self.x(i))

    def use(self, i):
        return self.load(i) / self.c[i]

    def rho(self, j, i):
        return cor(self.y[j], self.x(i, without=j))

    def score(self, j, among, receiver):
        return statistics.fmean(self.rho(j, k) for k in among) - self.rho(j, receiver)

    def best(self, operators, among, receiver):
        return min(operators, key=lambda j: (-round(self.score(j, among, receiver), 12), -self.mean(j), j))

    def move(self, j, source, target):
        self.nodes[source].remove(j)
        self.nodes[target].append(j)

    def one_way(self, a, b):
        s, r = (a, b) if self.use(a) >= self.use(b) else (b, a)
        left = (self.load(s) * self.c[r] - self.load(r) * self.c[s]) / (self.c[s] + self.c[r])
        candidates = [j for j in self.nodes[s] if self.mean(j) < left]
        while candidates:
            j = self.best(candidates, [s, r], r)
            self.move(j, s, r)
            left -= self.mean(j)
            candidates = [k for k in candidates if k != j and self.mean(k) < left]

    def refill(self, nodes):
        waiting = sorted(j for i in nodes for j in self.nodes[i])
        for i in nodes:
            self.nodes[i] = []
        while waiting:
            receiver = min(nodes, key=lambda i: (self.use(i), nodes.index(i)))
            j = self.best(waiting, nodes, receiver)
            self.nodes[receiver].append(j)
            waiting.remove(j)

    def redistribute(self, a, b):
        self.refill([a, b])
        self.one_way(a, b)

    def exchange(self, a, b, delta=0.2):
        self.one_way(a, b)
        for _ in range(len(self.nodes[a]) + len(self.nodes[b])):
            s, r = (a, b) if self.use(a) > self.use(b) else (b, a)
            if not self.nodes[s]:
                break
            j = self.best(self.nodes[s], [s, r], r)
            if self.score(j, [s, r], r) <= delta:
                break
            self.move(j, s, r)
        self.one_way(a, b)

    def pairs(self, epsilon):
        order = sorted(range(len(self.c)), key=lambda i: (-self.use(i), i))
        both = [(order[k], order[-1 - k]) for k in range(len(order) // 2)]
        return [(i, j) for i, j in both if self.use(i) - self.use(j) > epsilon]

    def tried(self, a, b, step):
        old, kept = cor(self.x(a), self.x(b)), [list(node) for node in self.nodes]
        step(a, b)
        if cor(self.x(a), self.x(b)) > old:
            return True
        self.nodes = kept
        return False

    def improve_overloaded(self, step, theta=0.8):
        for i in range(len(self.c)):
            relative = [v / self.c[i] for v in self.x(i)]
            if statistics.fmean(relative) + statistics.pstdev(relative) <= 1:
                continue
            table = [(cor(self.x(i), self.x(k)), k) for k in range(len(self.c)) if k != i]
            if table and min(table)[0] < theta:
                self.tried(i, min(table)[1], step)

    def improve_all(self, theta=0.8):
        n = len(self.c)
        rho = {(i, j): cor(self.x(i), self.x(j)) for i in range(n) for j in range(i + 1, n)}
        if not rho or statistics.fmean(rho.values()) >= theta:
            return
        waiting = {pair: value for pair, value in rho.items() if value < theta}
        for _ in range(n * (n - 1)):
            if not waiting:
                break
            pair = min(waiting, key=lambda one: (waiting[one], one))
            if self.tried(*pair, self.redistribute):
                for i, j in rho:
                    if {i, j} & set(pair):
                        value = cor(self.x(i), self.x(j))
                        waiting.pop((i, j), None)
                        if value < theta:
                            waiting[i, j] = value
            waiting.pop(pair, None)

    def glb(self, epsilon=0.1):
        self.refill(list(range(len(self.c))))
        for a, b in self.pairs(epsilon):
            self.one_way(a, b)
        self.improve_all()

    def node_of(self):
        place = {j: i for i, node in enumerate(self.nodes) for j in node}
        return [place[j] for j in range(len(self.y))]


def small_case(seed: int) -> SimpleNamespace:
    """Four to nine operators with up-and-down loads on two to four nodes, half of the cases with unequal ones."""
    rng = np.random.default_rng(seed)
    n_operators, n_nodes, n_windows = int(rng.integers(4, 10)), int(rng.integers(2, 5)), int(rng.integers(3, 8))
    waves = 1 + 0.6 * np.sign(rng.normal(size=(3, n_windows)))
    series = waves[rng.integers(0, 3, n_operators)] * rng.uniform(0.05, 0.4, (n_operators, 1))
    series *= rng.uniform(0.8, 1.2, series.shape)
    capacity = np.ones(n_nodes) if seed % 2 else rng.uniform(0.5, 1.5, n_nodes)
    return SimpleNamespace(series=series, node_of=rng.integers(0, n_nodes, n_operators), capacity=capacity)


@pytest.fixture(params=range(60))
def case(request) -> SimpleNamespace:
    return small_case(request.param)


@pytest.fixture
def slow(case) -> Slow:
    return Slow(case.series, case.node_of, case.capacity)
