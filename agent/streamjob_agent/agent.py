"""The agent's thread: look at Spark after each batch, add up, place, report. Nothing here can reach the job."""

from __future__ import annotations

import functools
import logging
import threading
import time
from collections.abc import Callable, Mapping
from typing import Any

import streamjob_agent
from streamjob_agent import admit
from streamjob_agent.actuation import ESSENTIAL, Actuation
from streamjob_agent.aside import Aside
from streamjob_agent.bridge import ExecutorMemory, Query, SparkBridge, Usage, passes
from streamjob_agent.config import AgentConfig
from streamjob_agent.exporter import Facts
from streamjob_agent.guard import Guard, say
from streamjob_agent.ledger import Ledger
from streamjob_agent.lives import Lives
from streamjob_agent.locality import LocalityTuner
from streamjob_agent.memory import AssignmentMemory
from streamjob_agent.pacing import Rounds, SlowWork, Stillness
from streamjob_agent.plan_form import QueryPlan
from streamjob_agent.rests import Rests
from streamjob_agent.rises import Rises
from streamjob_agent.seen import News, Seen, look
from streamjob_agent.spread import group_keys
from streamjob_agent.usual import Ground, Usual
from streamjob_agent.wire import AgentStatus, Assignment

_FAILURES_IN_A_ROW = 5
_STUCK_S = 60.0
# May take their time: they are made on threads of their own, and rounds go on meanwhile.
_PATIENT = ("state_bytes", "traffic", "memory", "diagnostics", "plan", "join")
_EAGER_POLL_S = 0.2  # until a query's first task was seen: a remembered placement must come before it
_SLOW_EVERY_BATCHES = 5
_RECALL_S = 2.0  # the job waits no longer than this for what must be told before a query's first task
_STOPPED = {
    "between": "was stopped between two batches",
    "inside": "was stopped inside a batch, which is run again after the restart",
}
_NOTHING = Usage(
    groups={}, batches=(), other_busy_s={}, executor_busy_s={}, failed_tasks=0, longest_stateful_stage_s=None
)


class Agent:
    """One agent for one driver (Spark application). `start` it once, `stop` it before its session goes."""

    def __init__(
        self,
        bridge: SparkBridge,
        config: AgentConfig,
        notes: Mapping[str, str] | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.guard = Guard(clock)
        self._bridge = bridge
        self._config = config
        self._clock = clock
        self._ledger = Ledger(config.traffic_min_bytes, config.traffic_max_pairs)
        self._actuation = Actuation(bridge, self.guard, AssignmentMemory(config.state_dir), config.failed_after)
        self._lives = Lives()
        self._shapes: dict[str, Mapping[int, int]] = {}  # query id -> its operators
        self._news = News(usual=Usual(), rises=Rises())
        self._rests = Rests(clock)
        self._rounds = Rounds(config.overhead_ratio)
        self._stillness = Stillness(clock)
        self._slow = SlowWork(config.overhead_ratio, _SLOW_EVERY_BATCHES, clock)
        self._aside = Aside()
        self._tuner = LocalityTuner()
        self._locality_wait_s: float | None = None
        self._memory: Mapping[str, ExecutorMemory] = {}
        self._bridge_work_s = 0.0
        self._dropped = 0  # measurements that did not fit into the probe, because nobody drained it for long
        self._lock = threading.Lock()  # guards the four below, which requests touch too
        self._inbox: list[Assignment] = []
        self._accepted: dict[str, Assignment] = {}
        self._refused: str | None = None
        self._off: tuple[str, str] | None = ("Starting", "the self-test has not run yet")
        self._versions = ("unknown", "unknown")
        self._notes = dict(notes or {})  # further entries of the status' self-test, without a say in actuation
        self._self_test: Mapping[str, str] = {}
        self._generation: int | None = None
        self._seen = Seen()
        self._stop = threading.Event()
        self._recalled = threading.Event()
        self._thread = threading.Thread(target=self._run, name="streamjob-agent", daemon=True)

    def start(self) -> None:
        """Start the thread; returns once Spark knows where key groups were under an earlier driver, or soon after."""
        self._thread.start()
        self._recalled.wait(_RECALL_S)

    def stop(self, timeout_s: float = 2.0) -> None:
        """End the thread and detach from Spark; waits at most timeout_s for it."""
        self._stop.set()
        self.guard.hush()
        closing = threading.Thread(target=self.guard.call, args=("close", self._bridge.close, None), daemon=True)
        closing.start()
        closing.join(timeout_s)

    def _run(self) -> None:
        self.guard.call("remember", self._actuation.recall, None)
        self._recalled.set()
        self.guard.call("start", self.prepare, None)
        gap_s = 0.0
        while not self._stop.wait(gap_s):
            gap_s = self.turn()

    def turn(self) -> float:
        """Wait for a batch's end and look at Spark, unless a look would find nothing; the pause after it in seconds."""
        waited = self.guard.call("wait_for_boundary", self._wait, None)
        still = waited is False and self._still()
        if still and self._stillness.left_s > 0.0:
            return 0.0
        began_s, failed = self._clock(), self._errors()
        self.guard.call("round", self.round, None)
        # A query that looks for data again and again is known to rest by looks that are not far apart.
        news = not still or any(query.idle for query in self._seen.queries)
        self._stillness.looked(well=self._errors() == failed, news=news)
        gap_s = self._rounds.gap_s(self._clock() - began_s)
        # A bridge that cannot wait: do not spin.
        return max(gap_s, self._config.poll_s) if waited is None else gap_s

    def _wait(self) -> bool:
        statuses, begun = self._seen.query_statuses, self._seen.begun
        if not statuses or any(one.batch_id is None and one.query_id not in begun for one in statuses):
            return self._bridge.wait_for_boundary(min(self._config.poll_s, _EAGER_POLL_S))
        still_s = 0.0 if self._actuation.busy else self._stillness.left_s  # then whatever happens ends the wait
        return self._bridge.wait_for_boundary(max(self._config.poll_s, still_s))

    def _still(self) -> bool:
        """Whether a round now would find what the last one left, and leave it so, but for what tasks have taken."""
        with self._lock:
            asked = bool(self._inbox)
        if asked or self._actuation.busy:
            return False
        return not self.guard.call("changed", self._bridge.changed, True)

    def prepare(self) -> None:
        """Learn the versions and run the self-test, which decides about actuation."""
        spark_version = self.guard.call("spark_version", self._bridge.spark_version, "unknown")
        application = self.guard.call("application_id", self._bridge.application_id, "unknown")
        self._versions = (spark_version, application)
        checks = self.guard.call("self_test", self._bridge.self_test, None) or {"self_test": "could not be run"}
        self._self_test = {**checks, **self._notes}
        failed = {name: answer for name, answer in checks.items() if not passes(answer)}
        if application == "unknown":
            failed["application_id"] = "Spark did not tell it"
        if failed:
            self._turn_off("SelfTestFailed", "; ".join(f"{name}: {answer}" for name, answer in failed.items()))
        else:
            self._off = None

    def round(self) -> None:
        """One look at Spark and what follows from it."""
        scene = self.guard.call("look", self._bridge.look, None)
        usage = self.guard.call("drain", self._bridge.drain, _NOTHING)
        known = self._seen.queries if scene is None else scene.queries
        self._live(known, usage)
        self.guard.call("ledger", lambda: self._ledger.take(usage), None)
        self.guard.call("shapes", lambda: self._fit(known), None)
        if scene is not None:
            self._actuation.fleet.update(scene.executors)
        self._actuation.hear(usage.given)
        self._dropped += usage.dropped
        self._take_inbox()
        if self._off is None and scene is not None:
            ended = {batch.query_id for batch in usage.batches}
            self.guard.call("actuation", lambda: self._actuation.act(known, ended, self._ledger), None)
        self.guard.call("usual", lambda: self._judge(usage), None)
        resting = self._rests.look(known, {batch.query_id for batch in usage.batches})
        self._seen = look(known, resting, self._actuation, self._ledger, self._news, self._generation)
        self._tune(usage)
        self._read_slowly(known, len(usage.batches))
        self._check_health()

    def _live(self, queries: tuple[Query, ...], usage: Usage) -> None:
        ended = (batch.query_id for batch in usage.batches)
        measured = (*usage.groups, *usage.other_busy_s, *usage.given, *ended)
        forgotten = self._lives.look((query.query_id for query in queries), measured)
        self._actuation.meet(self._lives.active)
        self._actuation.forget(forgotten)
        self._ledger.forget(forgotten)
        self._news.usual.forget(forgotten)
        self._news.rises.forget(forgotten)
        self._shapes = {one: operators for one, operators in self._shapes.items() if one not in forgotten}
        with self._lock:
            self._accepted = {one: newest for one, newest in self._accepted.items() if one not in forgotten}

    def _fit(self, queries: tuple[Query, ...]) -> None:
        """A query that starts again may have fewer key groups: its state was spread anew while it stood still."""
        for query in queries:
            if query.operators and self._shapes.get(query.query_id) != query.operators:
                groups = frozenset(group_keys(query.operators))
                self._ledger.keep(query.query_id, groups)
                self._actuation.keep(query.query_id, groups)
                self._shapes[query.query_id] = query.operators

    def _take_inbox(self) -> None:
        with self._lock:
            inbox, self._inbox = self._inbox, []
        for assignment in inbox:
            self._actuation.adopt(assignment, self._ledger)
            self._generation = assignment.generation

    def _judge(self, usage: Usage) -> None:
        executors = frozenset(self._actuation.fleet.live)
        for batch in usage.batches:
            kept = self._actuation.wishes.get(batch.query_id)
            moved, moving = (0, False) if kept is None else (kept.moves_total, kept.moves_pending > 0)
            self._news.rises.take(batch)
            self._news.usual.take(batch, Ground(executors=executors, moved=moved, moving=moving))
        self._news.rises.look(usage.running)

    def _tune(self, usage: Usage) -> None:
        if self._off is not None:
            return
        longest = (usage.longest_stateful_stage_s, usage.longest_task_s, self._ledger.load_s())
        wait_s = self._tuner.observe(*longest, draining=self._actuation.fleet.draining)
        if wait_s is None:
            return
        taken = self.guard.call("set_locality_wait", lambda: self._bridge.set_locality_wait(wait_s), None)
        if taken is None:
            self._tuner.forget()
        elif taken:
            self._locality_wait_s = wait_s

    def _read_slowly(self, queries: tuple[Query, ...], batches: int) -> None:
        if self._slow.due(batches) and not self._aside.busy:
            self._aside.start(functools.partial(self._read_aside, queries))

    def _read_aside(self, queries: tuple[Query, ...]) -> None:
        began_s = self._clock()
        for query in queries:
            # Traffic first: Spark forgets a shuffle some time after its batch, and sizes may take minutes.
            if self._config.traffic_max_pairs and len(query.operators) > 1:
                self.guard.call("traffic", functools.partial(self._read_traffic, query), None)
        for query in queries:
            self.guard.call("state_bytes", functools.partial(self._read_state, query), None)
        self._memory = self.guard.call("memory", self._bridge.memory, self._memory)
        self.guard.call("diagnostics", self._read_diagnostics, None)
        self._slow.done(self._clock() - began_s)

    def _read_state(self, query: Query) -> None:
        self._ledger.set_state_bytes(query.query_id, self._bridge.state_bytes(query.query_id))

    def _read_traffic(self, query: Query) -> None:
        reading = self._bridge.traffic(query.query_id, self._config.traffic_min_bytes, self._config.traffic_max_pairs)
        self._ledger.take_traffic(query.query_id, reading)

    def _read_diagnostics(self) -> None:
        faults, counters = self._bridge.diagnostics()
        for place, (count, newest) in faults.items():
            self.guard.heard(f"bridge_{place}", count, newest)
        self._bridge_work_s = sum(value for name, value in counters.items() if name.endswith("_ns")) / 1e9

    def _check_health(self) -> None:
        broken = self.guard.broken(ESSENTIAL, _FAILURES_IN_A_ROW)
        if self._off is None and broken is not None:
            self._turn_off("CallsFail", broken)

    def _turn_off(self, reason: str, message: str) -> None:
        self._off = (reason, f"{message}. Metrics go on; restart the driver to try again.")
        say(logging.WARNING, "StreamJob agent: actuation is off, %s: %s", reason, self._off[1])
        self.guard.call("set_actuation", lambda: self._bridge.set_actuation(False), None)

    def submit(self, assignment: Assignment) -> str | None:
        """Take an assignment over at the next look; why not, if it is refused. For any thread."""
        seen = self._seen
        with self._lock:
            view = admit.View(
                application_id=self._versions[1],
                actuation_off=self._off[1] if self._off else None,
                operators={query.query_id: query.operators for query in seen.queries},
                live=seen.live,
                past=seen.past,
                held=seen.held,
                accepted=self._accepted,
            )
            self._refused = admit.refusal(assignment, view)
            refused = self._refused
            news = refused is None and self._accepted.get(assignment.query_id) != assignment
            if news:
                self._accepted[assignment.query_id] = assignment
                self._inbox.append(assignment)
        if news:
            self.guard.call("wake", self._bridge.wake, None)
        return refused

    def join(self, session: Any) -> None:
        """Watch another session's queries, too; the job waits a moment for it. For any thread."""
        joining = threading.Thread(
            target=self.guard.call, args=("join", lambda: self._bridge.join(session), None), daemon=True
        )
        joining.start()
        joining.join(_RECALL_S)

    def stop_queries(self, timeout_s: float) -> None:
        """Stop every query between two batches, as far as that is possible in time. For any thread; may raise."""
        for query_id, where in self._bridge.stop_queries(timeout_s).items():
            told = _STOPPED.get(where, f"did not stop: {where}")
            say(logging.WARNING, "StreamJob agent: query %s %s", query_id, told)

    def status(self) -> AgentStatus:
        """What the agent knows now. For any thread."""
        seen, off = self._seen, self._off
        stuck = self.guard.stuck(_STUCK_S + self._config.poll_s, _PATIENT)  # a wait may last as long as that
        if off is None and stuck is not None:
            off = ("Stuck", f"{stuck}; nothing moves meanwhile")
        newest = self.guard.newest_error()
        return AgentStatus(
            agent_version=streamjob_agent.__version__,
            spark_version=self._versions[0],
            application_id=self._versions[1],
            now_s=time.time(),
            actuation="off" if off else "on",
            reason=off[0] if off else "Ok",
            message=off[1] if off else (f"newest error: {newest}" if newest else "every check passed"),
            generation_applied=seen.generation,
            refused=self._refused,
            executors=seen.executors,
            queries=seen.query_statuses,
            self_test=self._self_test,
            errors_total=sum(self._errors().values()),
        )

    def plans(self) -> tuple[QueryPlan, ...]:
        """The plans of the queries that run, read now. For any thread."""
        plans = [
            self.guard.call("plan", functools.partial(self._bridge.plan, query), None) for query in self._seen.queries
        ]
        return tuple(plan for plan in plans if plan is not None)

    def facts(self) -> Facts:
        """What one metrics page shows. For any thread."""
        return Facts(
            status=self.status(),
            queries=self._seen.queries,
            resting=self._seen.resting,
            pages=self._ledger.pages(),
            executor_busy_s=self._ledger.executor_busy_s(),
            memory=self._memory,
            moves=self._seen.moves,
            errors=self._errors(),
            overhead_s=self._rounds.spent_s + self._slow.spent_s + self._bridge_work_s,
            locality_wait_s=self._locality_wait_s,
        )

    def _errors(self) -> dict[str, int]:
        lost = {"dropped": self._dropped} if self._dropped else {}
        return {**self.guard.errors(), **lost}
