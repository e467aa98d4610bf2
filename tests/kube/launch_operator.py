"""`streamjob` with a death wish: DIE_AT=step:before or step:after kills the process (SIGKILL) at that step of a cycle.

DIE_IN=acting waits for a cycle whose verdict acts, so that there is something to lose. DIE_AT=mark:before dies when the
map names executors to be drained and their pods are to be marked. HANG_AT=SECONDS has every plan
hang whose deadline is exactly that. HELD=FILE has SIGUSR1 write there how much is held, kopf forget at once, and what
there is be listed anew often.
"""

from __future__ import annotations

import functools
import os
import signal
import sys
from pathlib import Path
from typing import Any

from held import tell_held

from streamjob_cli import main as cli
from streamjob_operator.kube.job import drivers, keeper
from streamjob_operator.kube.process import handlers, main
from streamjob_operator.planning_pool import PlanningPool
from streamjob_operator.steps import timing

STEP, _, WHEN = os.environ.get("DIE_AT", ":").partition(":")


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def arm() -> None:
    """Wrap the stopwatch, which runs every step of the cycle, the writer that saves the memory, and what marks pods."""
    run, write, mark = timing.Stopwatch.__call__, keeper.write_status, drivers.mark_pods
    acting = {"now": os.environ.get("DIE_IN") != "acting"}

    def timed(self: timing.Stopwatch, name: str, step: Any, /, *args: Any, **kwargs: Any) -> Any:
        here = name == STEP and acting["now"]
        if here and WHEN == "before":
            die()
        result = run(self, name, step, *args, **kwargs)
        if name == "gate":
            _, verdict = result
            acting["now"] = acting["now"] or verdict.act
        if name == STEP and acting["now"] and WHEN == "after":
            die()
        return result

    def saved(*args: Any) -> Any:
        if STEP == "save" and acting["now"] and WHEN == "before":
            die()
        result = write(*args)
        if STEP == "save" and acting["now"] and WHEN == "after":
            die()
        return result

    def marked(api: Any, events: Any, pods: Any, names: Any, now_s: float) -> Any:
        if STEP == "mark" and names:
            die()
        return mark(api, events, pods, names, now_s)

    drivers.mark_pods = marked
    timing.Stopwatch.__call__ = timed  # type: ignore[method-assign]
    keeper.write_status = saved


if __name__ == "__main__":
    if STEP:
        arm()
    if "HANG_AT" in os.environ:
        hanging = (sys.executable, str(Path(__file__).with_name("hanging_planner.py")))
        main.PlanningPool = functools.partial(PlanningPool, command=hanging)  # type: ignore[misc, assignment]
    if "HELD" in os.environ:
        handlers.IDLE_S, main.RELIST_S = 1.0, 2.0
        tell_held(Path(os.environ["HELD"]))
    cli.main()
