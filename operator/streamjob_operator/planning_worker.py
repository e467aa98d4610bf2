"""A process that plans: tasks come through the socket whose number is its argument, until that is closed.

A planner's solver is loaded when it is asked for first, which is told and is on no plan's clock: most operators are
only ever asked for the default one, and OR-Tools with what it needs takes 90 MiB and a second.
"""

from __future__ import annotations

import contextlib
import multiprocessing.connection
import signal
import sys
import time

import numpy as np

from streamjob_operator.planning_pool import LOADING
from streamjob_operator.steps.solve import in_process
from streamjob_planners import registry
from streamjob_planners.albic.settings import AlbicSettings
from streamjob_planners.model import LoadModel, Plan, PlanParams
from streamjob_planners.warm import warm_up

Task = tuple[str, AlbicSettings, LoadModel, PlanParams, int, float]
ALONE_FACTOR = 2.0
"""A task that takes this times its limit has nobody left who would end it: the kernel does."""


def main(number: int) -> None:
    """Load everything, say so, and answer tasks one by one until the other side closes or is gone."""
    # Ctrl-C reaches the whole group of a terminal; when to end is the other side's to say.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    pipe = multiprocessing.connection.Connection(number)
    warm_up()
    known = {_load(registry.DEFAULT)}
    with contextlib.suppress(EOFError, ConnectionError):
        pipe.send("ready")
        while True:
            task: Task = pipe.recv()
            if task[0] not in known:
                pipe.send(LOADING)
                known.add(_load(task[0]))
                pipe.send("ready")
                continue
            signal.setitimer(signal.ITIMER_REAL, ALONE_FACTOR * task[-1])
            answer = _answer(task)
            signal.setitimer(signal.ITIMER_REAL, 0.0)
            pipe.send(answer)


def _load(name: str) -> str:
    """Import the planner and its solver; one that there is not is told when it is to plan."""
    with contextlib.suppress(Exception):
        in_process(name, AlbicSettings())
    return name


def _answer(task: Task) -> Plan | str:
    name, settings, model, params, seed, _ = task
    try:
        return in_process(name, settings).solve(model, params, np.random.default_rng(seed), time.monotonic)
    except Exception as error:  # noqa: BLE001 - told to the other side, which holds
        return f"{type(error).__name__}: {error}"


if __name__ == "__main__":
    main(int(sys.argv[1]))
