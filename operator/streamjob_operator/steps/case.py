"""All that the gate judges, and what follows from it at once."""

from __future__ import annotations

import dataclasses

from streamjob_operator.spec import Mode, StreamJob
from streamjob_operator.steps.idle import waits
from streamjob_operator.steps.resize import Resized
from streamjob_operator.steps.worth_time import AT_EASE, Standing
from streamjob_operator.values import Memory, PendingPlan, Reason, Snapshot
from streamjob_planners.verify import Violation


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """All that the gate judges. `remove` are marked executors that hold nothing any more, `kept_back` says what memory
    keeps from moving, `policy` tells the spec from others; `approved` is the plan that was shown and is `resized` now.
    """

    job: StreamJob
    snapshot: Snapshot
    memory: Memory
    resized: Resized
    remove: tuple[str, ...]
    violations: tuple[Violation, ...]
    now_s: float
    policy: str = ""
    approved: PendingPlan | None = None
    kept_back: str | None = None
    changed_at_s: float | None = None
    standing: Standing = AT_EASE

    @property
    def resizes(self) -> bool:
        """Whether the executors wanted or marked change, as against finishing what was decided before."""
        resized, memory = self.resized, self.memory
        return resized.wanted != memory.executors_target or set(resized.marked) != set(memory.marked)

    @property
    def refused(self) -> bool:
        """Whether the newest assignment of this driver was refused after it counted as carried out, as on a cluster,
        where the agent answers later: executors that it asked for are asked for by nobody else."""
        memory, snapshot = self.memory, self.snapshot
        return memory.acted_here and snapshot.refused and memory.generation > (snapshot.generation_applied or 0)

    @property
    def unasked(self) -> bool:
        """Whether this driver lacks executors that were asked of the one before it, or that somebody else started that
        one with: where no key group may move no plan asks for them."""
        waits = self.resized.decision.reason is Reason.WAITING_FOR_EXECUTORS
        return self.job.resizes and waits and not self.memory.acted_here

    @property
    def idle(self) -> str | None:
        """Since when the query waits for data, for a person; None where it does not."""
        return waits(self.snapshot)

    @property
    def moves_allowed(self) -> bool:
        """Whether key groups may move for balance, as far as modes say."""
        return self.job.spec.balancing.mode in (Mode.AUTO, Mode.APPROVE)

    @property
    def marks(self) -> tuple[str, ...]:
        """Marked executors but for those that leave now by an earlier decision, which nobody is asked about again."""
        gone = set(self.remove) & set(self.memory.marked)
        return tuple(one for one in self.resized.marked if one not in gone)

    @property
    def unprepared(self) -> bool:
        """Whether more executors are to come than the newest assignment has a share for."""
        coming = self.resized.coming
        return self.moves_allowed and coming is not None and coming.executors > self.memory.arrivals

    @property
    def changed(self) -> bool:
        """Whether the world is another than the one that the newest assignment was made for."""
        acted_s, since = self.memory.acted_at_s, (self.memory.stirred_at_s, self.changed_at_s)
        return acted_s is not None and any(at_s is not None and at_s > acted_s for at_s in since)

    @property
    def recommends_executors(self) -> bool:
        """Whether another number of executors is wanted that nobody may carry out."""
        decision = self.resized.decision
        return decision.reason in (Reason.SCALE_OUT, Reason.SCALE_IN) and decision.target != self.resized.wanted
