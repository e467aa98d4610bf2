"""Key groups that are heavier than a slot's even share: no placement helps, a hot key in them has to be split."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Mapping

from streamjob_planners.advice.more_groups import wanted
from streamjob_planners.advice.values import JobPlan

LEAST_EXCESS = 1.2
"""Times an even share from which a key group is told: batches are longer by as much as it is above that."""
MOST_TOLD = 3
"""Key groups of an operator that are named, the heaviest first."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class HeavyGroup:
    """`part` of its operator's seconds, where an even share of a slot is `share`; `keys` is Spark SQL that is true for
    its keys alone."""

    operator: int
    partition: int
    part: float
    share: float
    key: tuple[str, ...]
    keys: str
    more_groups: int
    """So many key groups in place of today's, for this one to be within a share if its keys are many."""


def too_heavy(plan: JobPlan, seconds: Mapping[int, Mapping[int, float]], slots: int) -> tuple[HeavyGroup, ...]:
    """Of each operator with a key; `seconds` are those of its tasks by operator and partition, `slots` 1 or more."""
    found = []
    for operator in plan.operators:
        groups = seconds.get(operator.number, {})
        total_s = sum(groups.values())
        if not operator.key or total_s <= 0:
            continue
        heavy = [at for at, took_s in groups.items() if took_s > LEAST_EXCESS * total_s / slots]
        for partition in sorted(heavy, key=lambda at: -groups[at])[:MOST_TOLD]:
            columns = ", ".join(map(_in_sql, operator.key))
            found.append(
                HeavyGroup(
                    operator=operator.number,
                    partition=partition,
                    part=groups[partition] / total_s,
                    share=1.0 / slots,
                    key=operator.key,
                    keys=f"pmod(hash({columns}), {operator.partitions}) = {partition}",
                    more_groups=wanted(operator.partitions, slots * groups[partition] / total_s),
                )
            )
    return tuple(found)


def _in_sql(column: str) -> str:
    """A column's name as Spark SQL reads it: in backticks where it is no plain word."""
    return column if re.fullmatch("[A-Za-z_][A-Za-z0-9_]*", column) else "`" + column.replace("`", "``") + "`"


def sentence(one: HeavyGroup) -> str:
    """For the person who wrote the query."""
    return (
        f"Key group {one.partition} of operator {one.operator} takes {100 * one.part:.0f} percent of its seconds, "
        f"and a slot's share is {100 * one.share:.0f}: no placement helps. Its keys are those where {one.keys}; "
        "a hot one among them can be split by streamjob_agent.pkg.two_choices, if its rows can be summed up in parts; "
        f"many of them are parted by more key groups: streamjob repartition CHECKPOINT --key-groups {one.more_groups}."
    )
