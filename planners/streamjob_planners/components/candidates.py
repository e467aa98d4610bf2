"""Candidate components for MWSC: the paper's Enumerate(G, k) (algorithm 2, line 2), whose k it does not explain.

Here k is a size: every component of at most k operators, with the largest k for which there are no more than `most`.
Dense graphs have millions of components of six operators, so larger ones come from growing: from each operator, for
each of its attributes, the neighbour that exchanges most joins until none is left that has the attribute; every set on
the way is a candidate.
"""

from __future__ import annotations

from streamjob_planners.components.graph import Members, OperatorGraph


def enumerated(graph: OperatorGraph, largest: int, most: int) -> tuple[list[Members], int]:
    """Every component of at most k operators, smallest first, and k: at most `largest`, 1 at least.

    A size is listed whole or not at all, so that k says exactly what is there.
    """
    level = {frozenset({one}): graph.keys[one] for one in range(graph.n_operators)}
    found, size = list(level), 1
    while level and size < largest:
        grown = _one_more(graph, level, most - len(found))
        if grown is None:
            return found, size
        level = grown
        found += sorted(level, key=sorted)
        size += 1
    return found, size


def _one_more(
    graph: OperatorGraph, level: dict[Members, frozenset[str]], room: int
) -> dict[Members, frozenset[str]] | None:
    """Every component of one operator more; None where there are more than `room`. Each has a part in `level`."""
    grown: dict[Members, frozenset[str]] = {}
    for members, key in level.items():
        for other in {near for one in members for near in graph.neighbours[one]} - members:
            if key & graph.keys[other]:
                grown[members | {other}] = key & graph.keys[other]
        if len(grown) > room:
            return None
    return grown


def grown(graph: OperatorGraph) -> list[Members]:
    """From each operator and attribute of its key: the sets on the way to all that the attribute can reach."""
    found: dict[Members, None] = {}
    for start, key in enumerate(graph.keys):
        for attribute in sorted(key):
            members = {start}
            exchanged = {one: load for one, load in graph.neighbours[start].items() if attribute in graph.keys[one]}
            while exchanged:
                joins = max(exchanged, key=lambda one: (exchanged[one], -one))
                members.add(joins)
                del exchanged[joins]
                for other, load in graph.neighbours[joins].items():
                    if other not in members and attribute in graph.keys[other]:
                        exchanged[other] = exchanged.get(other, 0.0) + load
                found[frozenset(members)] = None
    return list(found)
