"""Executors that the StreamJobs of a namespace share: what each may have, and what all of them hold.

What other jobs need and hold is in their statuses, which are a cycle old. What a job was allowed since is remembered
until its status has been written anew, so that two cycles at the same time never get the same executors.
"""

from __future__ import annotations

import dataclasses
import threading
from collections.abc import Collection, Mapping
from typing import Any, Protocol

from streamjob_operator.kube.api.client import Object
from streamjob_operator.kube.names import Phase
from streamjob_operator.ports import Quota
from streamjob_operator.scaling.quota import Allowance, Claim, allowance
from streamjob_operator.spec import Mode, StreamJob

ANY = "*"
"""In the place of a namespace: each that has no quota of its own."""
_ENDED = (Phase.FAILED, Phase.SUSPENDED)
Key = tuple[str, str]
Told = tuple[str, str]
"""Uid of a StreamJob and id of its newest cycle: another pair is another status."""


class StreamJobs(Protocol):
    """All that there are."""

    def versions(self, namespace: str) -> Mapping[str, int]:
        """Version of each of a namespace, by name."""

    def known(self, namespace: str, name: str) -> Object | None:
        """One of them, as it was seen last."""


@dataclasses.dataclass(frozen=True, slots=True)
class _Read:
    version: int
    told: Told
    ended: bool
    off: bool
    claim: Claim


@dataclasses.dataclass(frozen=True, slots=True)
class _Asked:
    told: Told
    claim: Claim


class Quotas:
    """Quotas by namespace, `ANY` among them. Safe for several threads."""

    def __init__(self, most: Mapping[str, int], jobs: StreamJobs) -> None:
        self._most = dict(most)
        self._jobs = jobs
        self._read: dict[Key, _Read] = {}
        self._asked: dict[Key, _Asked] = {}
        self._lock = threading.Lock()

    def of(self, namespace: str, job: StreamJob) -> Quota | None:
        """What bounds the job; None where its namespace has no quota."""
        most = self._most_of(namespace)
        return None if most is None else _OfJob(self, namespace, job, most)

    def held(self) -> Mapping[str, tuple[int, int]]:
        """Quota, and executors that are held, of each namespace in which a job has asked."""
        with self._lock:
            asked = sorted({namespace for namespace, _ in self._asked})
            return {one: (self._most_of(one) or 0, sum(claim.holds for claim in self._claims(one))) for one in asked}

    def forget(self, namespace: str) -> None:
        """A job of the namespace is gone: what is remembered of such goes, though nobody may ask there again."""
        with self._lock:
            self._drop_gone(namespace, self._jobs.versions(namespace))

    def allow(self, namespace: str, claim: Claim, most: int, *, follows: bool) -> Allowance:
        """What the job may have beside the others, which is its own from now on where it `follows`."""
        with self._lock:
            others = [one for one in self._claims(namespace) if one.name != claim.name]
            found = allowance(claim, others, most, f"namespace {namespace}")
            gets = min(claim.needed, found.executors)
            kept = dataclasses.replace(claim, holds=max(claim.holds, gets)) if follows else _as_it_is(claim)
            read = self._read.get((namespace, claim.name))
            self._asked[namespace, claim.name] = _Asked(read.told if read is not None else ("", ""), kept)
            return found

    def _most_of(self, namespace: str) -> int | None:
        return self._most.get(namespace, self._most.get(ANY))

    def _claims(self, namespace: str) -> list[Claim]:
        versions = self._jobs.versions(namespace)
        self._drop_gone(namespace, versions)
        return [self._claim((namespace, name), version) for name, version in versions.items()]

    def _drop_gone(self, namespace: str, there: Collection[str]) -> None:
        for kept in (self._read, self._asked):
            for key in [one for one in kept if one[0] == namespace and one[1] not in there]:
                del kept[key]

    def _claim(self, key: Key, version: int) -> Claim:
        read, asked = self._read.get(key), self._asked.get(key)
        if read is None or read.version != version:
            document = self._jobs.known(*key)
            read = _read(key[1], version, document or {})
            self._read[key] = read
        if asked is None or read.ended or asked.told[0] not in ("", read.told[0]):
            return read.claim
        newest = read.claim if read.off else asked.claim
        granted = asked.claim.holds if asked.told == read.told else 0
        return dataclasses.replace(newest, holds=max(granted, read.claim.holds))


@dataclasses.dataclass(frozen=True, slots=True)
class _OfJob:
    quotas: Quotas
    namespace: str
    job: StreamJob
    most: int

    def allow(self, least: int, needed: int, holds: int, *, follows: bool) -> Allowance | None:
        """See ports.Quota."""
        name, priority = self.job.metadata.name, self.job.spec.scaling.priority
        claim = Claim(name=name, least=least, needed=max(least, needed), holds=holds, priority=priority)
        return self.quotas.allow(self.namespace, claim, self.most, follows=follows)


def _as_it_is(claim: Claim) -> Claim:
    """Of a job whose number of executors follows nothing: it keeps what it has."""
    return dataclasses.replace(claim, needed=max(claim.least, claim.holds))


def _read(name: str, version: int, document: Mapping[str, Any]) -> _Read:
    metadata, status = document.get("metadata") or {}, document.get("status") or {}
    told = str(metadata.get("uid", "")), str((status.get("lastCycle") or {}).get("id", ""))
    going = "deletionTimestamp" in metadata or bool((document.get("spec") or {}).get("suspend"))
    ended = going or status.get("phase") in _ENDED
    claim = _told_claim(name, document, going=going, ended=ended)
    return _Read(version, told, ended, _is_off(document.get("spec") or {}), claim)


def _is_off(spec: Mapping[str, Any]) -> bool:
    """Whether nobody says how many executors there shall be: such a job asks no more, and what it asked for is over."""
    replicas = (spec.get("executors") or {}).get("replicas")
    return replicas is None and (spec.get("scaling") or {}).get("mode") == Mode.OFF


def _told_claim(name: str, document: Mapping[str, Any], *, going: bool, ended: bool) -> Claim:
    """What a job that has not asked yet needs and holds, as its status tells; a new one starts with its fewest."""
    spec, status = document.get("spec") or {}, document.get("status") or {}
    bounds, scaling, there = (
        part or {} for part in (spec.get("executors"), spec.get("scaling"), status.get("executors"))
    )
    least, most = int(bounds.get("min") or 0), int(bounds.get("max") or 0)
    pods = max(int(there.get("ready") or 0), int(there.get("admitted") or 0))
    if going:
        return Claim(name=name, least=0, needed=0, holds=pods)
    marked = len(there.get("markedForRemoval") or ())
    holds = pods if ended else max(pods, int(there.get("target") or least) + marked)
    needed = bounds.get("replicas")
    if needed is None and scaling.get("mode") == Mode.AUTO:
        needed = (status.get("scaling") or {}).get("needed")
    within = min(max(holds if needed is None else int(needed), least), max(most, least))
    priority = int(scaling.get("priority") or 0)
    return Claim(name=name, least=least, needed=least if ended else within, holds=holds, priority=priority)
