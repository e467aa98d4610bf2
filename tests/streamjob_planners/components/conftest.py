"""Small operator graphs, and the slow obvious answers to compare with."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from streamjob_planners.components.cost import Adaptation
from streamjob_planners.components.graph import Members, OperatorGraph, Stream

ATTRIBUTES = ("ts", "a1", "a2", "a3", "a4")


class Slow:
    """Everything by trying all there is: 6 operators have 203 partitions."""

    def partitions(self, items: list[int]) -> Iterator[list[Members]]:
        if not items:
            yield []
            return
        first, rest = items[0], items[1:]
        for partition in self.partitions(rest):
            yield [frozenset({first}), *partition]
            for place, block in enumerate(partition):
                yield [*partition[:place], block | {first}, *partition[place + 1 :]]

    def plans(self, graph: OperatorGraph, beta: float, adaptation: Adaptation) -> Iterator[list[Members]]:
        for plan in self.partitions(list(range(graph.n_operators))):
            if all(self.component(graph, one) and (len(one) == 1 or adaptation(one) <= beta) for one in plan):
                yield plan

    def component(self, graph: OperatorGraph, members: Members) -> bool:
        """Section 3.1 word by word: a common attribute, and a path between any two through members only."""
        shared = set(ATTRIBUTES)
        for one in members:
            shared &= graph.keys[one]
        linked = {one: {one} for one in members}
        for _ in members:
            for stream in graph.streams:
                if stream.source in members and stream.target in members:
                    both = linked[stream.source] | linked[stream.target]
                    for one in both:
                        linked[one] = linked[one] | both
        return bool(shared) and all(linked[one] == set(members) for one in members)

    def cost(self, graph: OperatorGraph, plan: list[Members], adaptation: Adaptation) -> float:
        """Equation (1), stream by stream."""
        home = {one: place for place, members in enumerate(plan) for one in members}
        crossing = sum(s.load for s in graph.streams if home[s.source] != home[s.target])
        return crossing + sum(adaptation(one) for one in plan)

    def greedy(self, graph: OperatorGraph, start: list[Members], adaptation: Adaptation, beta: float) -> list[Members]:
        """Algorithm 1 with every profit worked out anew from whole plans."""
        plan = list(start)
        while True:
            found = []
            for operator in range(graph.n_operators):
                source = next(place for place, members in enumerate(plan) if operator in members)
                for target, members in enumerate(plan):
                    joined = members | {operator}
                    if target == source or not self.component(graph, joined) or adaptation(joined) > beta:
                        continue
                    rest = [m for place, m in enumerate(plan) if place not in (source, target)]
                    after = [*rest, joined, *graph.parts(plan[source] - {operator})]
                    gain = self.cost(graph, plan, adaptation) - self.cost(graph, after, adaptation)
                    found.append((gain, after))
            best = max(found, key=lambda one: one[0], default=(0.0, plan))
            if best[0] <= 1e-9 * max(graph.total, 1.0):
                return plan
            plan = best[1]


@pytest.fixture
def slow() -> Slow:
    return Slow()


def random_graph(seed: int, n_operators: int = 6, density: float = 0.4) -> OperatorGraph:
    """A small graph of random streams and keys of one to three attributes."""
    rng = np.random.default_rng(seed)
    keys = tuple(
        frozenset(rng.choice(ATTRIBUTES, rng.integers(1, 4), replace=False).tolist()) for _ in range(n_operators)
    )
    streams = tuple(
        Stream(source=i, target=j, load=float(rng.uniform(1.0, 100.0)))
        for i in range(n_operators)
        for j in range(i + 1, n_operators)
        if rng.random() < density
    )
    return OperatorGraph(keys=keys, streams=streams)


def random_adaptation(seed: int) -> Adaptation:
    """Any number for any component, the same each time it is asked for."""

    def psi(members: Members) -> float:
        return float(np.random.default_rng([seed, *sorted(members)]).uniform(0.0, 40.0) * len(members))

    return psi


@pytest.fixture
def graphs() -> list[tuple[OperatorGraph, Adaptation]]:
    return [(random_graph(seed), random_adaptation(seed)) for seed in range(12)]
