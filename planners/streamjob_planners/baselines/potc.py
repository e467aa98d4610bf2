"""The power of two choices (Nasir et al., ICDE 2015): every key may go to either of two nodes, tuple by tuple.

It is no planner: no key group has one owner, so there is no plan to make or to check. It is a router, compared by the
load that it puts on the nodes. Its price is the merge: a key's state is in two halves that one node must put together
before each result (ALBIC paper, sections 2.2 and 5.2), and that work cannot be balanced.
"""

from __future__ import annotations

import dataclasses

import numpy as np

from streamjob_planners.arrays import sums
from streamjob_planners.model import FloatArray, IntArray


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class TwoChoices:
    """The two hash functions, drawn once: `first` also merges, (n_groups,) each; two different nodes."""

    first: IntArray
    second: IntArray


def draw_choices(n_groups: int, n_nodes: int, rng: np.random.Generator) -> TwoChoices:
    """Two different nodes for every key group, uniformly at random; n_nodes must be 2 or more."""
    if n_nodes < 2:
        raise ValueError(f"n_nodes: {n_nodes} given, two choices need at least 2")
    first = rng.integers(n_nodes, size=n_groups)
    second = (first + rng.integers(1, n_nodes, size=n_groups)) % n_nodes
    return TwoChoices(first=first, second=second)


def routed_load(
    choices: TwoChoices, load: FloatArray, merge_load: FloatArray, n_nodes: int, rng: np.random.Generator
) -> FloatArray:
    """Load of each node after one period, percent points, (n_nodes,).

    Tuples arrive in random order, here in chunks of a fiftieth of a key group's load; each goes to that of its two
    nodes that has received less. Senders count what they sent and do not see the merge: `merge_load`
    (n_groups,) comes on top, at the first choice.
    """
    chunks = 50
    order = rng.permutation(np.repeat(np.arange(load.size), chunks))
    sent = [0.0] * n_nodes
    tuples = zip(choices.first[order], choices.second[order], load[order] / chunks, strict=True)
    for left, right, amount in tuples:
        sent[left if sent[left] <= sent[right] else right] += float(amount)
    return np.asarray(sent) + sums(choices.first, merge_load, n_nodes)
