"""Planning in processes of its own: a planner that overruns is ended, and one giant job does not hold up the others.

The processes load solvers and compile loops while the first statistics period runs; no plan's time is spent on that. A
process that overran is killed and replaced. Safe for several threads.
"""

from __future__ import annotations

import contextlib
import dataclasses
import logging
import multiprocessing.connection
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator

import numpy as np

from streamjob_operator.planning_queue import Asks, PlanningQueue, nobody
from streamjob_operator.ports import Overran, Starting
from streamjob_operator.steps.solve import limit_s
from streamjob_planners.albic.settings import AlbicSettings
from streamjob_planners.model import Clock, LoadModel, Plan, Planner, PlanParams

LOG = logging.getLogger(__name__)
WORKER = "streamjob_operator.planning_worker"
LOADING = "loading"
"""What a process answers that has dropped a task to load its planner first: it says that it is ready after that."""
START_S = 300.0
"""Time for a process to load solvers and compile loops: 45 s on an idle core without a cache, more on a busy one."""
WAIT_S = 5.0
"""Time that one plan waits for a process that still loads: two seconds where loops were compiled before. The next cycle
asks again."""
FREE_S = 60.0
"""Time to wait for a process that other jobs keep busy."""
LARGE = 2000
"""Key groups from which a plan takes seconds: of several processes one is never given to those."""


class Worker:
    """One process. Not safe for several threads: the pool hands it to one at a time."""

    def __init__(self, command: tuple[str, ...]) -> None:
        ours, theirs = socket.socketpair()
        with ours, theirs:
            number = str(theirs.fileno())
            self._process = subprocess.Popen([*command, number], stdin=subprocess.DEVNULL, pass_fds=[theirs.fileno()])
            self._pipe = multiprocessing.connection.Connection(ours.detach())
        self._ready = False
        self._started_s = time.monotonic()

    def age_s(self) -> float:
        """Time since it was started, or began to load a planner."""
        return time.monotonic() - self._started_s

    def ready(self, timeout_s: float) -> bool:
        """Whether it has loaded everything, waiting at most timeout_s; raises EOFError when it has ended."""
        if not self._ready and self._pipe.poll(timeout_s):
            self._pipe.recv()
            self._ready = True
        return self._ready

    def ask(self, task: object, timeout_s: float) -> object:
        """The answer; raises TimeoutError, EOFError or OSError, after which the worker must be ended.

        LOADING is no answer: it is not ready any more, and is to be asked again when it is.
        """
        self._pipe.send(task)
        if not self._pipe.poll(timeout_s):
            raise TimeoutError
        answer = self._pipe.recv()
        if answer == LOADING:
            self._ready, self._started_s = False, time.monotonic()
        return answer

    def kill(self) -> None:
        """End the process, which holds nothing that anybody needs; from any thread.

        A thread that waits for its answer meets the end of the pipe, and closes it: nobody else may, while it reads.
        """
        self._process.kill()
        self._process.wait()

    def end(self) -> None:
        """Kill it and close its pipe, as the one thread that holds it."""
        self.kill()
        self._pipe.close()


class PlanningPool:
    """Implements :class:`streamjob_operator.ports.Planning`; use as a context manager.

    `shared`: whether jobs of several namespaces ask, none of which may take all of it. `kills` counts processes that
    were ended because they overran or died.
    """

    def __init__(
        self,
        size: int = 1,
        command: tuple[str, ...] = (sys.executable, "-m", WORKER),
        wait_s: float = WAIT_S,
        shared: Callable[[], bool] = lambda: False,
    ) -> None:
        self._size = size
        self._command = command
        self._wait_s = wait_s
        self._lock = threading.Lock()
        self._closed = False
        self._all: set[Worker] = set()
        self._queue: PlanningQueue[Worker] = PlanningQueue(size, shared)
        self.kills = 0
        self._start()

    def __enter__(self) -> PlanningPool:
        return self

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._closed = True
            workers, self._all = self._all, set()
        for worker in workers:
            worker.kill()
        for worker in self._queue.empty():
            worker.end()

    def planner(self, name: str, settings: AlbicSettings) -> Planner:
        """The planner of that name, working in the pool."""
        return self.of("").planner(name, settings)

    def of(self, namespace: str, *, asked: Asks = nobody) -> Share:
        """The same for a job of that namespace; what a person has `asked` for by then comes before its other plans."""
        return Share(pool=self, namespace=namespace, asked=asked)

    def run(
        self, task: object, timeout_s: float, *, namespace: str = "", large: bool = False, asked: Asks = nobody
    ) -> object:
        """What a process answers within timeout_s; raises Starting, Overran, or RuntimeError when the process died.

        Of `large` tasks one less than there are processes is under way at a time, so that the others find one free.
        """
        with self._worker(namespace, large=large, asked=asked) as worker:
            answer: object = LOADING
            while answer == LOADING:
                self._wait_for(worker)
                try:
                    answer = worker.ask(task, timeout_s)
                except TimeoutError:
                    raise Overran(f"it was ended after {timeout_s:.1f} s") from None
            return answer

    def _wait_for(self, worker: Worker) -> None:
        if not worker.ready(self._wait_s):
            if worker.age_s() < START_S:
                raise Starting(f"for {worker.age_s():.0f} s")
            raise Overran(f"its process was not ready within {START_S:g} s")

    @contextlib.contextmanager
    def _worker(self, namespace: str, *, large: bool, asked: Asks) -> Iterator[Worker]:
        """A free worker. One that overran, died, or was left in the middle of an answer does not come back."""
        self._start_again()
        worker = self._queue.take(namespace, FREE_S, large=large, asked=asked)
        if worker is None:
            raise Overran(f"no planning process was free within {FREE_S:g} s")
        try:
            yield worker
        except Starting:
            self._queue.put(worker)
            raise
        except BaseException as error:
            self._replace(worker)
            if isinstance(error, EOFError | OSError):
                raise RuntimeError("its process has died") from error
            raise
        else:
            self._queue.put(worker)
        finally:
            self._queue.leave(namespace, large=large)

    def _replace(self, worker: Worker) -> None:
        with self._lock:
            self._all.discard(worker)
            self.kills += 1
        worker.end()
        self._start_again()

    def _start_again(self) -> None:
        """As many as are lacking, as far as the system has room for them; the next plan tries the others."""
        try:
            self._start()
        except OSError as error:
            LOG.warning("A planning process could not be started: %s", error)

    def _start(self) -> None:
        """Raises OSError."""
        with self._lock:
            while len(self._all) < self._size and not self._closed:
                worker = Worker(self._command)
                self._all.add(worker)
                self._queue.put(worker)


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Share:
    """The pool as a job of one namespace has it. Implements :class:`streamjob_operator.ports.Planning`."""

    pool: PlanningPool
    namespace: str
    asked: Asks = nobody

    def planner(self, name: str, settings: AlbicSettings) -> Planner:
        """The planner of that name, working in the pool."""
        return Pooled(name=name, settings=settings, share=self)


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Pooled:
    """A planner in another process. Its chance is drawn from `rng`; its clock is the process's own."""

    name: str
    settings: AlbicSettings
    share: Share
    now: Callable[[], float] = time.monotonic

    def solve(self, model: LoadModel, params: PlanParams, rng: np.random.Generator, _clock: Clock) -> Plan:
        """The plan; raises Starting, Overran once it is too late for one, or the planner's error as RuntimeError."""
        seed, longest_s = int(rng.integers(2**63)), limit_s(params)
        task = (self.name, self.settings, model, params, seed, longest_s)
        share, large = self.share, len(model.node_of) >= LARGE
        answer = share.pool.run(task, longest_s, namespace=share.namespace, large=large, asked=share.asked)
        if isinstance(answer, Plan):
            return answer
        raise RuntimeError(str(answer))
