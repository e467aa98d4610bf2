"""Cycles of one StreamJob on a cluster: when one is due, and one of them from memory to memory."""

from __future__ import annotations

import dataclasses
import secrets
import time
from collections.abc import Callable, MutableMapping
from logging import LoggerAdapter
from typing import Any

import numpy as np

from streamjob_operator.agent_sight import sight_of
from streamjob_operator.cycle import turn
from streamjob_operator.events import EventKind, told
from streamjob_operator.kube.api.reading import Reading
from streamjob_operator.kube.job.cadence import view_of
from streamjob_operator.kube.job.spread import nearest_s, next_s
from streamjob_operator.kube.job.tools import Tools
from streamjob_operator.kube.metrics.sources import Reached, Source, open_source, reached
from streamjob_operator.kube.names import Phase
from streamjob_operator.kube.partition_map.actuator import MapActuator
from streamjob_operator.kube.partition_map.maps import Maps, MapView
from streamjob_operator.kube.partition_map.memory import Recalled, StatusMemory
from streamjob_operator.kube.report.decisions import ACTED, outcome_of
from streamjob_operator.kube.report.facts import Cycle, Facts
from streamjob_operator.kube.report.findings import silence
from streamjob_operator.planning_queue import Asks
from streamjob_operator.ports import Planning, Ports
from streamjob_operator.sight import Sight
from streamjob_operator.spec import StreamJob
from streamjob_operator.values import CycleRecord, Memory
from streamjob_operator.waking.cadence import Cadence

Log = LoggerAdapter[Any]
Write = Callable[[Facts], None]


class Recorder:
    """Reporter that keeps the newest record, because the status is written when the memory is saved."""

    newest: CycleRecord | None = None

    def report(self, record: CycleRecord) -> None:
        """Keep it."""
        self.newest = record


class Cycling:
    """Holds what must stay open between cycles: where measurements come from, and when the last cycle began."""

    def __init__(self, tools: Tools, namespace: str, name: str, log: Log) -> None:
        self._tools = tools
        self._namespace = namespace
        self._name = name
        self._log = log
        self._cadence = Cadence()
        self._now_s: float | None = None  # of the newest look
        self._ran = False
        self._rng = np.random.default_rng()
        self._source: tuple[object, Source] | None = None
        self._reached: Reached | None = None

    def close(self) -> None:
        """Let go of what measures the job."""
        if self._source is not None:
            self._source[1].close()
            self._source = None

    @property
    def has_rows(self) -> bool:
        """Whether newest batches are at hand between cycles, which only a look sees."""
        return self._source is not None and self._source[1].rows() is not None

    def due_s(self, reading: Reading, facts: Facts, *, asked: bool = False) -> float | None:
        """When the next cycle is due, seconds since the epoch; None while there is nothing to measure.

        `asked`: a person asks for one and had none yet, perhaps of an operator that went before.
        """
        self._reached, seen = reached(facts), facts.map
        self._follow_clock(facts.now_s)
        if facts.job is None or facts.driver is None or facts.driver.phase is not Phase.RUNNING:
            return None
        if seen is None or seen.agent is None:
            return None
        period_s = facts.job.spec.balancing.statistics_period_s
        view = view_of(reading, seen, self._open(facts.job).rows())
        events = self._cadence.happened(view)
        due_s = self._cadence.due_s(period_s, events, view)
        if self._ran:
            return due_s if events else nearest_s(due_s, reading.uid, period_s)
        # An operator that takes many jobs over at once spreads them; a new job does not wait, nor does a person.
        waits = (reading.document.get("status") or {}).get("lastCycle") and not asked
        return next_s(due_s, reading.uid, period_s) if waits else due_s

    def run(self, reading: Reading, facts: Facts, known: Recalled, write: Write, *, asked: Asks) -> bool:
        """One cycle; whether it acted. It starts from what is `known`.

        `write` is given the facts with what the cycle found; it may raise what it likes. A person who has `asked` for
        it, also while its plan waits already, has edited the job, or approved a plan of it, does not wait behind all
        others' plans.
        """
        job, seen = facts.job, facts.map
        if job is None or seen is None:
            raise ValueError("a cycle needs a job and its PartitionMap")
        source, recorder, maps = self._open(job), Recorder(), Maps(self._tools.api, reading.document)
        cycle_id, started_s = secrets.token_hex(4), time.monotonic()
        view = view_of(reading, seen, source.rows())
        woken = self._cadence.happened(view)
        edited = any(one.kind is EventKind.SPEC_EDITED for one in woken)
        self._ran = True
        self._cadence.began(facts.now_s, dataclasses.replace(view, status=seen.agent))

        def keep(memory: Memory) -> None:
            cycle = _cycle(cycle_id, recorder, time.monotonic() - started_s, source)
            write(
                dataclasses.replace(facts, memory=memory, memory_text=None, cycle=cycle, map=_newest(maps, cycle, seen))
            )

        ports = Ports(
            metrics=source.metrics,
            actuator=MapActuator(maps),
            memory=StatusMemory(known, keep, self._log.warning),
            reporters=(recorder, *self._tools.reporters(self._namespace, job)),
            planning=self._planning(asked=lambda: edited or asked()),
            look=lambda: unmeasured(facts),
            quota=None if self._tools.quotas is None else self._tools.quotas.of(self._namespace, job),
        )
        self._reached = dataclasses.replace(reached(facts), agent=seen.agent)
        try:
            record = turn(ports, job, facts.now_s, self._rng, time.monotonic, woken)
        finally:
            self._reached = reached(facts)
        self._cadence.ended(record, job.spec.balancing.statistics_period_s)
        outcome = outcome_of(record)
        extra = {"cycle": cycle_id, "decision": outcome.decision, "reason": outcome.reason.value}
        extra |= {"wokenBy": told(woken)} if woken else {}
        self._log.info(outcome.message, extra=extra)
        return outcome.decision == ACTED

    def _planning(self, *, asked: Asks) -> Planning | None:
        return None if self._tools.planning is None else self._tools.planning(self._namespace, asked=asked)

    def _follow_clock(self, now_s: float) -> None:
        """The operator's clock is the world's, which somebody may have set back."""
        if self._now_s is not None and now_s < self._now_s:
            self._cadence.set_back(self._now_s - now_s)
        self._now_s = now_s

    def _open(self, job: StreamJob) -> Source:
        wanted = (job.spec.metrics, job.spec.balancing.statistics_period_s)
        if self._source is None or self._source[0] != wanted:
            self.close()
            source = open_source(self._tools.api, self._namespace, job, lambda: self._reached, self._tools.shared)
            self._source = (wanted, source)
            self._cadence.first_s = self._tools.clock() + source.warm_up_s
        return self._source[1]


def _newest(maps: Maps, cycle: Cycle | None, seen: MapView) -> MapView:
    """The map as this cycle has written it, where it has."""
    wrote = cycle is not None and cycle.record.receipt is not None and cycle.record.receipt.accepted
    return (maps.read() or seen) if wrote else seen


def _cycle(cycle_id: str, recorder: Recorder, elapsed_s: float, source: Source) -> Cycle | None:
    record = recorder.newest
    if record is None:
        return None
    return Cycle(id=cycle_id, record=record, seconds=elapsed_s, trouble=source.trouble(), note=source.note())


def unmeasured(facts: Facts) -> Sight | None:
    """What the map shows of a job whose measurements are missing; None where its agent is silent, too, or may be: an
    operator that has just begun does not know how old its report is.
    """
    agent = None if facts.map is None else facts.map.agent
    if agent is None or not facts.agent_certain or silence(facts) is not None:
        return None
    return sight_of(agent, facts.now_s)


class JobLog(LoggerAdapter[Any]):
    """Adds the job to each line, beside what the line itself says."""

    def process(self, msg: object, kwargs: MutableMapping[str, Any]) -> tuple[Any, MutableMapping[str, Any]]:
        """See logging.LoggerAdapter, which would let the job win over everything else."""
        return msg, {**kwargs, "extra": {**(self.extra or {}), **(kwargs.get("extra") or {})}}
