"""A process that plans: tasks come through the socket whose number is its argument, until that is closed."""

from __future__ import annotations

import contextlib
import multiprocessing.connection
import signal
import sys
import time

import numpy as np

from streamjob_operator.steps.solve import in_process
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
    with contextlib.suppress(EOFError, ConnectionError):
        pipe.send("ready")
        while True:
            task: Task = pipe.recv()
            signal.setitimer(signal.ITIMER_REAL, ALONE_FACTOR * task[-1])
            answer = _answer(task)
            signal.setitimer(signal.ITIMER_REAL, 0.0)
            pipe.send(answer)


def _answer(task: Task) -> Plan | str:
    name, settings, model, params, seed, _ = task
    try:
        return in_process(name, settings).solve(model, params, np.random.default_rng(seed), time.monotonic)
    except Exception as error:  # noqa: BLE001 - told to the other side, which holds
        return f"{type(error).__name__}: {error}"


if __name__ == "__main__":
    main(int(sys.argv[1]))
