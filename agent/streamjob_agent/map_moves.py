"""Moves of a PartitionMap as short text: their order, and what each is expected to cost. Pure.

- order: `0:3,7,9;1:4` is partitions 3, 7 and 9 of operator 0, then partition 4 of operator 1;
- costs: in the order of the moves, equal neighbours counted, `-` is unknown, three digits: `0.03*120,-,0.5`.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping

from streamjob_agent.kinds import MOST_GROUPS, WireError
from streamjob_agent.wire import GroupKey


def order_text(order: Iterable[GroupKey]) -> str:
    """The order as text."""
    runs = itertools.groupby(order, key=lambda key: key.operator)
    return ";".join(f"{operator}:{','.join(str(key.partition) for key in run)}" for operator, run in runs)


def read_order(text: str) -> tuple[GroupKey, ...]:
    """Inverse of :func:`order_text`; raises WireError with a sentence on anything else."""
    if text.count(",") + text.count(";") >= MOST_GROUPS:  # before each has become an object
        raise WireError(f"moveOrder: more than {MOST_GROUPS} key groups given")
    return tuple(_keys(text)) if text else ()


def _keys(text: str) -> Iterator[GroupKey]:
    for run in text.split(";"):
        operator, _, partitions = run.partition(":")
        for partition in partitions.split(","):
            if not (_is_number(operator) and _is_number(partition)):
                raise WireError(f"moveOrder: {run[:80]!r} is not OPERATOR:PARTITION,PARTITION,...")
            yield GroupKey(operator=int(operator), partition=int(partition))


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdecimal() and len(text) < 19


def costs_text(order: Iterable[GroupKey], cost_s: Mapping[GroupKey, float]) -> str:
    """Costs in seconds as text, in the order of the moves."""
    texts = (f"{cost_s[key]:.3g}" if key in cost_s else "-" for key in order)
    runs = ((text, sum(1 for _ in run)) for text, run in itertools.groupby(texts))
    return ",".join(text if count == 1 else f"{text}*{count}" for text, count in runs)


def read_costs(text: str, order: tuple[GroupKey, ...]) -> dict[GroupKey, float]:
    """Inverse of :func:`costs_text` for moves of that order, rounded; raises WireError with a sentence otherwise."""
    if not text:
        return {}
    costs = list(itertools.islice(_each_cost(text), len(order) + 1)) if text.count(",") < MOST_GROUPS else []
    if len(costs) != len(order):
        raise WireError(f"moveCostSeconds: not one cost for each of the {len(order)} key groups of moveOrder")
    return {key: cost for key, cost in zip(order, costs, strict=True) if cost is not None}


def _each_cost(text: str) -> Iterator[float | None]:
    for run in text.split(","):
        cost, _, count = run.partition("*")
        if count and not (_is_number(count) and int(count) <= MOST_GROUPS):
            raise WireError(f"moveCostSeconds: {run[:80]!r} is not SECONDS, or SECONDS*COUNT")
        yield from itertools.repeat(_seconds(cost), int(count or 1))


def _seconds(text: str) -> float | None:
    try:
        return None if text == "-" else float(text)
    except ValueError as error:
        raise WireError(f"moveCostSeconds: {text[:80]!r} given, seconds or '-' are needed") from error
