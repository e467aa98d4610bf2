"""Executors that several jobs share: who may have how many of them. Pure.

Each job has the fewest that it is bound to have. What is left goes to jobs of the highest priority first, one executor
at a time to the job that has fewest so far, until it has what it needs: max-min fairness by progressive filling
(D. Bertsekas, R. Gallager: Data Networks, 2nd edition, section 6.5.2), in whole executors. So a job has as many as any
other of its priority, unless it needs fewer.
"""

from __future__ import annotations

import dataclasses
import heapq
import itertools
from collections.abc import Iterable, Sequence


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """What one job asks of the executors that it shares.

    `least` are those that it has in any case, `needed` those that its scaling asks for, `holds` those that it has or
    has asked for, drained ones included. Those of a higher `priority` are served first.
    """

    name: str
    least: int
    needed: int
    holds: int
    priority: int = 0


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Allowance:
    """How many executors a job may have now, of `most` that it shares with others of `where`, which hold `others`."""

    executors: int
    most: int
    others: int
    where: str

    @property
    def sentence(self) -> str:
        """What bounds it, without a full stop."""
        return (
            f"{self.where} may have {self.most}, other jobs hold {self.others}, and {self.executors} may be this job's"
        )


def shares(claims: Iterable[Claim], most: int) -> dict[str, int]:
    """Executors of each job by name. Their sum is `most` at most, unless the fewest of all are more."""
    claims = sorted(claims, key=lambda one: (-one.priority, one.name))
    found = {one.name: one.least for one in claims}
    left = most - sum(found.values())
    for _, equals in itertools.groupby(claims, key=lambda one: one.priority):
        left = _fill(found, tuple(equals), left)
    return found


def _fill(found: dict[str, int], equals: Sequence[Claim], left: int) -> int:
    """One executor at a time; how many are left."""
    needed = {one.name: one.needed for one in equals}
    waiting = [(found[name], name) for name in needed if found[name] < needed[name]]
    heapq.heapify(waiting)
    while left > 0 and waiting:
        has, name = heapq.heappop(waiting)
        found[name] = has + 1
        left -= 1
        if found[name] < needed[name]:
            heapq.heappush(waiting, (found[name], name))
    return left


def allowance(claim: Claim, others: Sequence[Claim], most: int, where: str) -> Allowance:
    """How many executors the job may have beside the others.

    Never more than its share. It grows only into what nobody holds, since what others have too much leaves once it is
    drained.
    """
    held = sum(one.holds for one in others)
    share = shares((claim, *others), most)[claim.name]
    executors = max(claim.least, min(share, max(claim.holds, most - held)))
    return Allowance(executors=executors, most=most, others=held, where=where)
