"""Operators that die, pause, or are two: which of them acts, and what the next one makes of what was begun."""

from __future__ import annotations

import signal

from e2e.faults.case import Case, Tools, acting, begin
from e2e.faults.stage import Stage, settled, stop, until


def _dies_at(step: str, when: str) -> Case:
    """The operator is killed in the first cycle that acts, just before or after a step, and started again."""

    def harm(stage: Stage, _: Tools) -> str:
        stage.driver()
        mortal = stage.operator(DIE_AT=f"{step}:{when}", DIE_IN="acting" if step in LATE else "")
        until(f"the operator did not die {when} {step}", lambda: mortal.pid is None)
        stage.operator()
        return "killed once"

    return Case(name=f"operator killed {when} {step}", harm=harm)


LATE = ("actuate", "remember", "report", "save")
"""Steps that come once the gate has said whether the cycle acts; the others are the same in every cycle."""
THINKING = ("estimate", "solve", "need", "scale", "resize", "verify", "terminate", "gate")
STEPS = ("observe", "recall", "check", *THINKING, *LATE)


def _killed_before_marks(stage: Stage, _: Tools) -> str:
    """The map says who is drained, and dies before the executors' pods say so, too."""
    stage.driver()
    stage.pods()
    mortal = stage.operator(DIE_AT="mark:before")
    until("the operator did not die before it marked pods", lambda: mortal.pid is None)
    before = stage.marked_pods()
    stage.operator()
    until("no pod was marked", lambda: stage.marked_pods() > 0)
    return f"killed once with {before} pods marked, then they were"


def _killed_in_mid_drain(stage: Stage, _: Tools) -> str:
    first = begin(stage)
    times = 0
    for _again in range(3):
        if settled(acting(stage)):
            break
        first.kill()
        first = stage.operator()
        times += 1
    return f"killed {times} times"


def _paused_leader(stage: Stage, _: Tools) -> str:
    """Paused until another has taken the lease over, then let go on: it must end by itself."""
    first = begin(stage)
    acting(stage)
    leader = stage.lease_holder()
    second = stage.operator()
    stop(first, signal.SIGSTOP)
    until("nobody took the lease over", lambda: stage.lease_holder() != leader)
    stop(first, signal.SIGCONT)
    until("the old leader did not end", lambda: first.pid is None)
    return "the old leader ended" if second.pid is not None else "both ended"


def _two_operators(stage: Stage, _: Tools) -> str:
    begin(stage)
    stage.operator()
    acting(stage)
    return "both all the time"


DEATHS: tuple[Case, ...] = (
    *(
        _dies_at(step, when)
        for step in STEPS
        for when in (("before", "after") if step in ("actuate", "save") else ("before",))
    ),
    Case(name="operator killed between the map and the pods' marks", harm=_killed_before_marks),
    Case(name="operator killed again and again in mid-drain", harm=_killed_in_mid_drain),
    Case(name="two operators at once", harm=_two_operators),
    Case(name="leader paused beyond its lease, another takes over", harm=_paused_leader),
)
