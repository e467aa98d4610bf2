"""Actuator of a simulated job: refuses what is stale, records what should not have been asked."""

from __future__ import annotations

import dataclasses

from streamjob_operator.ports import Stale, Unavailable
from streamjob_operator.spec import StreamJob
from streamjob_operator.steps.estimate import node_names
from streamjob_operator.values import Memory, Reason, Receipt, Snapshot, Verdict
from streamjob_sim.faults import FaultKind, lasting
from streamjob_sim.fleet import Life
from streamjob_sim.job import SimulatedJob

_DOWN = frozenset({FaultKind.ACTUATOR_UNAVAILABLE})


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Violation:
    """Something that a controller must never ask for: a stable code and a sentence."""

    at_s: float
    code: str
    sentence: str


class SimulatedActuator:
    """Carries verdicts out on the simulated job. `violations` is what it had to refuse or to wonder at."""

    def __init__(self, simulated: SimulatedJob, job: StreamJob) -> None:
        self._simulated = simulated
        self._bounds = job.spec.executors
        self.violations: list[Violation] = []

    def actuate(self, snapshot: Snapshot, verdict: Verdict, memory: Memory) -> Receipt:
        """Raises Unavailable while the world says so, and Stale when another generation was applied since."""
        world, agent = self._simulated.world, self._simulated.agent
        if lasting(world.faults, _DOWN, self._simulated.now_s):
            raise Unavailable("The simulated agent takes no assignment.")
        if (agent.generation or 0) > memory.generation:
            raise Stale(f"Generation {agent.generation} is applied, the plan follows {memory.generation}.")
        goals = self._goals(snapshot, verdict)
        self._judge(snapshot, verdict, goals)
        held = [one for one in verdict.remove if self._simulated.agent.holds(int(one))]
        if held:
            message = f"HoldsGroups: executors {', '.join(held)} still hold key groups"
            return Receipt(generation=None, accepted=False, reason=Reason.PLAN_STALE, message=message)
        agent.generation = memory.generation + 1
        if verdict.plan is not None:
            agent.adopt(memory.generation + 1, goals, self._costs_s(snapshot, verdict), verdict.boundary_s)
            known = frozenset(int(one.executor_id) for one in snapshot.executors)
            agent.expect(self._places(snapshot, verdict), known)
        self._scale(verdict)
        return Receipt(generation=memory.generation + 1, accepted=True, reason=verdict.reason, message="")

    def _goals(self, snapshot: Snapshot, verdict: Verdict) -> dict[int, int]:
        """Where every measured key group shall be, those that move first; a group without a live node stays free."""
        if verdict.plan is None:
            return {}
        index = {group: at for at, group in enumerate(self._simulated.stages.group_ids)}
        names = node_names(snapshot)
        wanted = {
            index[group]: int(names[node])
            for group, node in zip(snapshot.group_ids, verdict.plan.node_of.tolist(), strict=True)
            if names[node].isdigit()
        }
        first = [index[snapshot.group_ids[move.group]] for move in verdict.plan.moves]
        return {group: wanted[group] for group in (*first, *wanted) if group in wanted}

    def _costs_s(self, snapshot: Snapshot, verdict: Verdict) -> dict[int, float]:
        index = {group: at for at, group in enumerate(self._simulated.stages.group_ids)}
        moves, arrivals = () if verdict.plan is None else verdict.plan.moves, verdict.arrivals
        pairs = [(move.group, cost_s) for move, cost_s in zip(moves, verdict.move_cost_s, strict=False)]
        pairs += [] if arrivals is None else list(zip(arrivals.groups, arrivals.cost_s, strict=True))
        return {index[snapshot.group_ids[group]]: cost_s for group, cost_s in pairs}

    def _places(self, snapshot: Snapshot, verdict: Verdict) -> dict[int, int]:
        if verdict.arrivals is None:
            return {}
        index = {group: at for at, group in enumerate(self._simulated.stages.group_ids)}
        pairs = zip(verdict.arrivals.groups, verdict.arrivals.places, strict=True)
        return {index[snapshot.group_ids[group]]: place for group, place in pairs}

    def _scale(self, verdict: Verdict) -> None:
        fleet, now_s = self._simulated.fleet, self._simulated.now_s
        for name in verdict.remove:
            fleet.end(int(name), Life.LEFT, now_s)
        fleet.mark(verdict.marked_for_removal)
        if verdict.executors_target is not None:
            fleet.request(verdict.executors_target, now_s)

    def _judge(self, snapshot: Snapshot, verdict: Verdict, goals: dict[int, int]) -> None:
        for name in verdict.remove:
            held = self._simulated.agent.holds(int(name))
            if held:
                self._wonder("RemovedNotEmpty", f"Executor {name} was to be removed with {held} key groups.")
        moved = {} if verdict.plan is None else {move.group for move in verdict.plan.moves}
        index = {group: at for at, group in enumerate(self._simulated.stages.group_ids)}
        targets = {goals.get(index[snapshot.group_ids[group]]) for group in moved} - {None}
        bad = sorted(str(one) for one in targets if str(one) in verdict.marked_for_removal)
        if bad:
            self._wonder("MovedToMarked", f"Key groups were to move to {', '.join(bad)}, which are to be removed.")
        self._judge_bounds(verdict)

    def _judge_bounds(self, verdict: Verdict) -> None:
        if verdict.executors_target is None:
            return
        wanted = verdict.executors_target - len(set(verdict.marked_for_removal) - set(verdict.remove))
        if not self._bounds.min <= wanted <= self._bounds.max:
            self._wonder("OutOfBounds", f"{wanted} executors wanted, {self._bounds.min} to {self._bounds.max} allowed.")

    def _wonder(self, code: str, sentence: str) -> None:
        self.violations.append(Violation(at_s=self._simulated.now_s, code=code, sentence=sentence))
