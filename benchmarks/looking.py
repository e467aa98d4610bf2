"""What a body sees of a simulated job between two cycles: the agent's status and the newest batches.

The agent's own code judges which batches are out of their range.
"""

from __future__ import annotations

from streamjob_agent.bridge import BatchEnd, RunningBatch
from streamjob_agent.rises import Rises
from streamjob_agent.usual import Ground, Usual
from streamjob_agent.wire import AgentStatus, ExecutorStatus, QueryStatus
from streamjob_operator.waking.cadence import Seen
from streamjob_operator.waking.rows import Rows
from streamjob_sim.batch import Batch
from streamjob_sim.fleet import Executor, Life
from streamjob_sim.job import SimulatedJob
from streamjob_sim.measure import APPLICATION, QUERY, RUN, running_batch, truth

_STATES = {Life.READY: "ready", Life.LEFT: "dead", Life.DEAD: "dead"}


class Looking:
    """Looks at the job as often as it is asked; `window_s` is the statistics period."""

    def __init__(self, job: SimulatedJob, window_s: float) -> None:
        self._job = job
        self._window_s = window_s
        self._usual, self._rises = Usual(), Rises()
        self._moved, self._ended = 0, 0
        self._newest_s: float | None = None
        self._rows: Rows | None = None

    def __call__(self) -> Seen:
        """Batches that have ended since the last look count one by one, as the agent counts them."""
        fresh = [one for one in self._job.batches if self._newest_s is None or one.end_s > self._newest_s]
        for batch in fresh:
            self._take(batch)
        if fresh:
            snapshot = truth(self._job, self._window_s)
            slots = {one.executor_id: one.cores for one in snapshot.executors}
            told = snapshot.series
            rows = None if told is None else Rows(series=told, owners=snapshot.owners, slots=slots)
            self._newest_s, self._rows = fresh[-1].end_s, rows
        told = running_batch(self._job)
        if told is not None:
            running = RunningBatch(batch_id=self._ended + 1, began_at_s=told.began_at_s, rows=round(told.rows))
            self._rises.look({QUERY: running})
        return Seen(status=self._status(), rows=self._rows)

    def _take(self, batch: Batch) -> None:
        self._moved, self._ended = self._moved + batch.moves, self._ended + batch.times
        ended = BatchEnd(
            query_id=QUERY,
            run_id=RUN,
            batch_id=self._ended,
            ended_at_s=self._job.world.start + batch.end_s,
            duration_s=batch.length_s,
            input_rows=round(batch.taken),
            input_rps=None,
            processed_rps=None,
            lag_rows=batch.waiting,
        )
        ground = Ground(executors=batch.fleet, moved=self._moved, moving=bool(self._job.agent.goals))
        self._rises.take(ended)
        self._usual.take(ended, ground)

    def _status(self) -> AgentStatus:
        executors = enumerate(self._job.fleet.executors)
        query = QueryStatus(
            query_id=QUERY,
            run_id=RUN,
            name=None,
            batch_id=self._ended,
            owners={},
            moves_pending=len(self._job.agent.goals),
            unusual=self._usual.news(QUERY),
            risen=self._rises.news(QUERY),
        )
        return AgentStatus(
            agent_version="simulated",
            spark_version="simulated",
            application_id=APPLICATION,
            now_s=self._job.world.start + self._job.now_s,
            actuation="on",
            reason="",
            message="",
            generation_applied=self._job.agent.generation,
            refused=None,
            executors=tuple(self._executor(at, one) for at, one in executors if one.life is not Life.STARTING),
            queries=(query,),
        )

    def _executor(self, at: int, executor: Executor) -> ExecutorStatus:
        return ExecutorStatus(
            executor_id=str(at),
            host="simulated-host",
            cores=self._job.world.executors.cores,
            state="draining" if executor.marked else _STATES[executor.life],
            groups=self._job.agent.holds(at),
        )
