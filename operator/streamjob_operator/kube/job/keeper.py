"""One StreamJob under the operator's care: each turn reads it, looks after its driver, runs a cycle when one is due,
and writes what was found.

Nothing that matters is kept here between turns: an operator that is killed anywhere goes on from the API server's
objects. The PartitionMap is written before the status, and completes a memory that could not be saved.
"""

from __future__ import annotations

import dataclasses
import logging
import random
from collections.abc import Mapping
from typing import Any

from streamjob_operator.kube.api.finalizer import hold, release
from streamjob_operator.kube.api.kinds import PARTITION_MAPS, STREAM_JOBS
from streamjob_operator.kube.api.reading import Reading, read_job
from streamjob_operator.kube.driver.pod import grace_s
from streamjob_operator.kube.job.cycling import Cycling, JobLog
from streamjob_operator.kube.job.drivers import Asked, Look
from streamjob_operator.kube.job.heartbeat import Heartbeat
from streamjob_operator.kube.job.rest import CYCLE_DUE, Rest
from streamjob_operator.kube.job.steering import Steering, followed, steering_of, stop
from streamjob_operator.kube.job.tools import Tools
from streamjob_operator.kube.job.writing import write_status
from streamjob_operator.kube.models.status import Handled, Status
from streamjob_operator.kube.names import KubeReason, Phase
from streamjob_operator.kube.partition_map.maps import Maps, MapView
from streamjob_operator.kube.partition_map.memory import Recalled, recalled, without_outage
from streamjob_operator.kube.pods.lost_nodes import Since
from streamjob_operator.kube.report.compose import compose, read_status
from streamjob_operator.kube.report.events import Telling
from streamjob_operator.kube.report.facts import Facts
from streamjob_operator.kube.report.findings import silent_from_s, silent_s
from streamjob_operator.kube.report.tellings import shape, tellings
from streamjob_operator.planning_queue import Asks, nobody
from streamjob_operator.spec import StreamJob
from streamjob_operator.values import Memory

LOG = logging.getLogger(__name__)
LONGEST_REST_S, SHORTEST_REST_S = 30.0, 0.5
"""Time between two turns; the longest is shortened by chance, by a quarter at most, so that not all come at once."""
AT_REST_S = 80.0
"""The longest, shortened likewise, where a job runs and its agent is heard: watches wake whoever something happens to,
so that what is left to be seen is a cycle that is due, and silence, and both have their times."""
REPAIR_S = 3600.0
"""Between two times that what stands around a driver is applied again, shortened by chance as rests are: nobody watches
roles, services and monitors, and somebody may have deleted one."""
REPAIR_AGAIN_S = 300.0
"""The same where some of it could not be made."""
LONGEST_END_S, END_MARGIN_S = 180.0, 60.0
"""A deleted StreamJob goes after this time, or so long after its driver's grace where that is later, whatever its
driver does: Kubernetes takes away what it owns."""
NO_DRIVER = (Phase.PENDING, Phase.FAILED, Phase.SUSPENDED)
"""Phases without a driver that could be measured; one that is not ready for a moment has another."""
FRESH_S = 5.0
"""Time in which a cycle goes on from what the look that found it due has seen, if nobody has written the StreamJob or
its PartitionMap since: pods are looked at again after it."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """What a turn has seen before it decides anything. `handled` is what was followed of what a person asks for, a
    cycle that is asked for left out, which `steering` names."""

    reading: Reading
    status: Status
    steering: Steering
    handled: Handled
    known: Recalled
    look: Look
    facts: Facts


class Keeper:
    """Turns of one StreamJob; one at a time. `asked`: whether a person has changed what no turn has followed yet."""

    def __init__(self, tools: Tools, namespace: str, name: str, asked: Asks = nobody) -> None:
        self._tools = tools
        self._asked = asked
        self._namespace = namespace
        self._name = name
        self._log = JobLog(LOG, {"job": f"{namespace}/{name}"})
        self._cycling = Cycling(tools, namespace, name, self._log)
        self._repaired: tuple[str, int] | None = None
        self._repair_at_s = 0.0
        self._granted: str | None = None
        self._lacking: tuple[str, ...] = ()
        self._leaving: Since = {}
        self._ending: tuple[str, float] | None = None  # uid, and when its deletion was seen first
        self._heartbeat = Heartbeat()
        self._due: Found | None = None  # of a look that stopped short of a cycle

    def turn(self, *, cycle: bool = True) -> Rest:
        """One turn; seconds until the next one is due at the latest, None when the StreamJob is gone.

        Without `cycle` a turn that finds one due says so, and leaves everything else to the next turn. Raises
        Unavailable, Stale, Refused.
        """
        document = self._tools.api.get(STREAM_JOBS, self._name, self._namespace)
        due, self._due = self._due, None
        if document is None:
            self._tools.forget(self._namespace, self._name)
            return None
        if cycle and due is not None and self._stands(due, document):
            return self._keep(due, cycle=True)
        reading = read_job(document)
        if reading.deleted_at_s is not None:
            return self._end(reading)
        if reading.job is None:
            return self._refuse(reading)
        held = hold(self._tools.api, document)
        return self._keep(self._find(reading if held is document else read_job(held), reading.job), cycle=cycle)

    def _stands(self, found: Found, document: Mapping[str, Any]) -> bool:
        """Whether all is as it was found, a moment ago."""
        facts, seen = found.facts, self._tools.api.get(PARTITION_MAPS, self._name, self._namespace)
        if seen is None or facts.map is None or not 0.0 <= self._tools.clock() - facts.now_s <= FRESH_S:
            return False
        same = document["metadata"]["resourceVersion"] == found.reading.metadata["resourceVersion"]
        return same and bool(seen["metadata"]["resourceVersion"] == facts.map.resource_version)

    def fail(self, sentence: str) -> None:
        """Tell why turns come to nothing, by an event and in the status: either may be what cannot be written.

        Raises what `turn` raises.
        """
        document, now_s = self._tools.api.get(STREAM_JOBS, self._name, self._namespace), self._tools.clock()
        if document is None:
            return
        reading = read_job(document)
        try:
            reason, key = KubeReason.OPERATOR_ERROR.value, shape(sentence)
            telling = Telling(reason=reason, note=sentence, action="Reconcile", key=key, warning=True)
            self._tools.events.tell(document, telling, now_s)
        finally:
            if reading.job is not None and reading.deleted_at_s is None:
                said = Facts(
                    now_s=now_s,
                    uid=reading.uid,
                    generation=reading.generation,
                    job=reading.job,
                    unknown=reading.unknown,
                    error=sentence,
                )
                before = read_status(document)
                self._tell(reading, before, said, before.handled)

    def close(self) -> None:
        """Let go of what measures the job; a cycle that ended after its StreamJob has told of it once more."""
        self._cycling.close()
        self._tools.forget(self._namespace, self._name)

    def _refuse(self, reading: Reading) -> float:
        """The API server let a bad spec pass: say so. The job runs on as it is."""
        now_s = self._tools.clock()
        facts = Facts(now_s=now_s, uid=reading.uid, generation=reading.generation, job=None, mistakes=reading.mistakes)
        before = read_status(reading.document)
        self._tell(reading, before, facts, before.handled)
        return LONGEST_REST_S

    def _find(self, reading: Reading, job: StreamJob) -> Found:
        now_s, status = self._tools.clock(), read_status(reading.document)
        maps = Maps(self._tools.api, reading.document)
        seen = maps.ensure()
        steering = steering_of(reading, status.handled)
        if steering.stop is not None:
            self._log.info("The running moves are stopped.", extra={"token": steering.stop})
            seen = stop(maps, seen)
        known = recalled(status.memory, seen, now_s)  # what the next cycle starts from
        look = self._look(reading, job, status, seen, known.memory)
        if look.facts.phase in NO_DRIVER:
            known = without_outage(known)
        if look.facts.phase is Phase.SUSPENDED:  # it has no cycles, and nobody is to be alarmed by that
            self._tools.forget(self._namespace, self._name)
        facts = Facts(
            now_s=now_s,
            uid=reading.uid,
            generation=reading.generation,
            job=job,
            unknown=reading.unknown,
            driver=look.facts,
            map=seen,
            agent_heard_s=self._heartbeat.heard_s(seen.agent, now_s, silent_s(status, seen)),
            agent_certain=self._heartbeat.certain,
            memory=known.memory,
            memory_text=known.text,
        )
        handled = followed(status.handled, stop=steering.stop)
        return Found(
            reading=reading,
            status=status,
            steering=steering,
            handled=handled,
            known=known,
            look=look,
            facts=facts,
        )

    def _keep(self, found: Found, *, cycle: bool) -> Rest:
        now_s, reading, steering = self._tools.clock(), found.reading, found.steering
        facts = dataclasses.replace(found.facts, now_s=now_s)
        due_s = self._cycling.due_s(reading, facts, asked=steering.refresh is not None)
        if due_s is not None and now_s >= due_s:
            if not cycle:
                self._due = found
                return CYCLE_DUE
            looked = followed(found.handled, refresh=steering.refresh)  # with what came of it: who waits reads that
            acted = self._cycling.run(
                reading,
                facts,
                found.known,
                lambda told: self._write(found, told, looked),
                asked=lambda: steering.refresh is not None or self._asked(),
            )
            if acted:
                return SHORTEST_REST_S  # pods are marked as the new map has it
            due_s = self._cycling.due_s(reading, facts)
        else:
            self._write(found, facts, found.handled)
        return self._rest_s(due_s, found.look, facts)

    def _look(self, reading: Reading, job: StreamJob, status: Status, seen: MapView | None, memory: Memory) -> Look:
        now, now_s = (reading.uid, reading.generation), self._tools.clock()
        asked = Asked(
            reading=reading,
            job=job,
            status=status,
            map=seen,
            memory=memory,
            now_s=now_s,
            repair=self._repaired != now or now_s >= self._repair_at_s,
            granted=self._granted,
            lacking=self._lacking,
            leaving=self._leaving,
        )
        look = self._tools.drivers.look(asked)
        self._repaired, self._granted = now, look.granted
        self._lacking, self._leaving = look.lacking, look.leaving
        if asked.repair:
            self._repair_at_s = now_s + (REPAIR_AGAIN_S if look.lacking else REPAIR_S) * _a_little_less()
        return look

    def _rest_s(self, due_s: float | None, look: Look, facts: Facts) -> float:
        silent_at_s, now_s = silent_from_s(facts), self._tools.clock()
        heard = due_s is not None and silent_at_s is not None
        quiet = heard and not look.leaving and not self._cycling.has_rows  # pods that no node ends are told by no watch
        waits = [(AT_REST_S if quiet else LONGEST_REST_S) * _a_little_less()]
        waits += [] if silent_at_s is None else [silent_at_s - now_s + SHORTEST_REST_S]
        waits += [] if due_s is None else [due_s - now_s]
        waits += [] if look.next_look_s is None else [look.next_look_s]
        return max(SHORTEST_REST_S, min(waits))

    def _write(self, found: Found, facts: Facts, handled: Handled) -> None:
        self._tell(found.reading, found.status, facts, handled)

    def _tell(self, reading: Reading, before: Status, facts: Facts, handled: Handled | None) -> None:
        """The status, then the events: one that is lost with the operator was told by the status at least."""
        after = compose(before, facts, handled)
        document = write_status(self._tools.api, reading.document, after)
        for telling in tellings(before, after, facts):
            self._tools.events.mention(document, telling, facts.now_s)

    def _end(self, reading: Reading) -> float:
        """The StreamJob is to go: stop its driver in order, then let it go; always in bounded time."""
        now_s = self._tools.clock()
        if self._ending is None or self._ending[0] != reading.uid:
            self._ending = (reading.uid, now_s)
        # By whichever clock is ahead: the API server's may be hours before ours, and this process may have just begun.
        overdue = now_s - min(self._ending[1], reading.deleted_at_s or now_s) > _longest_end_s(reading.job)
        self._cycling.close()
        if reading.job is None or overdue:
            release(self._tools.api, reading.document)
            return LONGEST_REST_S
        seen, status = Maps(self._tools.api, reading.document).read(), read_status(reading.document)
        known = recalled(status.memory, seen, now_s)
        look = self._look(reading, reading.job, status, seen, known.memory)
        if look.gone:
            release(self._tools.api, reading.document)
        return min(look.next_look_s or LONGEST_REST_S, LONGEST_REST_S)


def _longest_end_s(job: StreamJob | None) -> float:
    application = None if job is None else job.spec.application
    return LONGEST_END_S if application is None else max(LONGEST_END_S, grace_s(application) + END_MARGIN_S)


def _a_little_less() -> float:
    """A factor by which not all jobs' waits end at once."""
    return 1 - random.random() / 4
