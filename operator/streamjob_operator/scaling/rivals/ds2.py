"""DS2: the rate that arrives over the rate that one instance can truly take.

Sources: Kalavri et al., Three steps is all you need, OSDI 2018, section 3.2, equations 7 and 8; strymon-system/ds2
controller/src/policy/scaling.rs and controller/src/bin/manager.rs at commit d72176b (`consider_change`, warm-up,
activation), with the values of controller/config/ds2.toml: warm_up_time 2, activation_time 1, scaling_factor 0. The
target rate ratio is off, as by default. One policy interval is one cycle. Executors take all stages in turn, so the
whole query is one operator whose instances are executors, and its true rate counts the time of tasks alone.
"""

from __future__ import annotations

import dataclasses
import math

from streamjob_operator.scaling.measured import arriving_rps, slot_row_rps, slots_per_executor
from streamjob_operator.scaling.rule import Situation, State, Wish, kept, recalled

WARM_UP, ACTIVATION = 2, 1
"""Intervals ignored after a change, and decisions before one is carried out."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """Intervals since `executors` changed, and decisions since then."""

    executors: int = 0
    intervals: int = 0
    decisions: int = 0


class Ds2Rule:
    """The optimal parallelism in one step."""

    name = "ds2"

    def decide(self, situation: Situation, state: State | None) -> tuple[Wish, State]:
        """The optimal number, or the one there is within the warm-up."""
        wanted, per_slot = situation.fleet.wanted, slot_row_rps(situation)
        now = _progress(recalled(Progress, state), situation)
        if per_slot is None:
            return Wish(executors=wanted, needed=wanted, why="no row was taken"), kept(now)
        needed = optimal(arriving_rps(situation), per_slot * slots_per_executor(situation))
        why = f"{arriving_rps(situation):.0f} rows/s arrive, {per_slot:.0f} rows/s fill a slot"
        if now.intervals <= WARM_UP:
            held = f"{WARM_UP} intervals are ignored after a change"
            return Wish(executors=wanted, needed=needed, why=why, held=held), kept(now)
        now = dataclasses.replace(now, decisions=now.decisions + 1)
        follows = now.decisions >= ACTIVATION and significant(wanted, needed)
        held = "one executor less is no change that counts"
        return Wish(executors=needed if follows else wanted, needed=needed, why=why, held=held), kept(now)


def optimal(arriving: float, instance: float) -> int:
    """Instances for rows per second that arrive, each taking `instance` of them."""
    return max(1, math.ceil(arriving / instance - 1e-9))


def significant(before: int, after: int) -> bool:
    """Any growth counts, and shrinking by more than one."""
    return before < after or before - 1 > after


def _progress(before: Progress, situation: Situation) -> Progress:
    wanted = situation.fleet.wanted
    if before.executors != wanted or situation.fleet.ready < wanted:
        return Progress(executors=wanted)
    return dataclasses.replace(before, intervals=before.intervals + 1)
