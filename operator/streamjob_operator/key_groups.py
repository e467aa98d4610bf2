"""What is known of a job's key groups, and how many of them are wanted: for both bodies. Pure."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

from streamjob_operator.spec.key_groups import APPROVED, KeyGroupsMode

if TYPE_CHECKING:  # planners' values take a second to import
    from streamjob_operator.spec import StreamJob
    from streamjob_operator.values import CycleRecord

REFUSED = 2
"""Exit code of the operation where it says itself that the query is as it was; see `streamjob repartition`."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class KeyGroupsSeen:
    """What the newest cycle that could measure saw: how many there are `now`, and how many might do, if more might."""

    now: int
    proposed: int | None = None


def seen_in(record: CycleRecord) -> KeyGroupsSeen | None:
    """None where nothing was measured. What is proposed is the number that the cycle's sentence names."""
    from streamjob_planners.advice.more_groups import number  # see above; who has a record has imported it

    if record.model is None or not record.model.group_ids:
        return None
    more = None if record.scaling is None else record.scaling.more_groups
    return KeyGroupsSeen(now=number(record.model.group_ids), proposed=None if more is None else more.wanted)


def asked(job: StreamJob) -> bool:
    """Whether a person asks for a number, in the spec or by an approval: a failure holds as long as that stands."""
    return job.spec.balancing.key_groups.count is not None or job.approved_key_groups is not None


def approval(key_groups: int) -> str:
    """The annotation's value that approves so many."""
    return f"{APPROVED}{key_groups}"


def wanted(job: StreamJob, seen: KeyGroupsSeen | None) -> int | None:
    """So many key groups are to be made; None where those that there are may stay, or nobody knows how many there are.

    What a person writes in the spec is meant for whatever was measured; what is approved is that which was proposed.
    """
    policy = job.spec.balancing.key_groups
    if seen is None or job.paused or not policy.changes:
        return None
    if policy.count is not None:
        return policy.count if policy.count != seen.now else None
    approved = seen.proposed is not None and job.approved_key_groups == approval(seen.proposed)
    return seen.proposed if policy.mode is KeyGroupsMode.APPROVE and approved else None
