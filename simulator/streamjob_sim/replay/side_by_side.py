"""Several runs of one trace at once, each in a process of its own: they share nothing but the trace."""

from __future__ import annotations

import dataclasses
import multiprocessing
import os
import signal
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool

from streamjob_operator.recording.trace import Trace
from streamjob_operator.spec import StreamJob
from streamjob_sim.replay.run import Replayed, replay


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """One run: its name, the policy with its rule, and what `replay` takes besides, seconds."""

    name: str
    job: StreamJob
    objective_s: float
    startup_s: float


class Ended(Exception):
    """A run's process has ended before the run; the text is a sentence."""


def replay_all(trace: Trace, runs: Sequence[Asked], ended: Callable[[Replayed], None]) -> list[Replayed]:
    """All runs in their order; `ended` is told of each once it and those before it have ended.

    A single one runs in this process: another would load the libraries once more, which takes seconds. Raises
    TraceError for a trace that no world is made of, and Ended.
    """
    if len(runs) == 1:
        found = [_run(trace, runs[0])]
        ended(found[0])
        return found
    found = []
    workers = min(len(runs), os.cpu_count() or 1)
    # Started anew and not forked: solvers may have threads.
    spawn = multiprocessing.get_context("spawn")
    try:
        with ProcessPoolExecutor(workers, mp_context=spawn, initializer=_quietly) as pool:
            for one in pool.map(_run, [trace] * len(runs), runs):
                ended(one)
                found.append(one)
    except BrokenProcessPool as error:
        raise Ended("A process that replayed was ended from outside, as for want of memory.") from error
    return found


def _quietly() -> None:
    """Ctrl-C, which all processes of a terminal get, ends this one without a traceback beside the command's word."""
    if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.SIG_DFL)


def _run(trace: Trace, asked: Asked) -> Replayed:
    """Without the cycles' records, which no table or picture reads: of a week they are hundreds of megabytes."""
    run = replay(asked.name, trace, asked.job, asked.objective_s, startup_s=asked.startup_s)
    return dataclasses.replace(run, score=dataclasses.replace(run.score, turns=()))
