"""Which of several operators acts: the one that holds a Lease. Others wait; one that loses it ends.

A lease is judged by how long its record has not changed on OUR clock, so that clocks need not agree. What a paused
leader may still do when it wakes up is caught elsewhere: the PartitionMap is only written by the generation it was
planned on, the status only over the memory it was made from.
"""

from __future__ import annotations

import dataclasses
import logging
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from streamjob_operator.kube.api.client import KubeApi
from streamjob_operator.kube.api.kinds import LEASES
from streamjob_operator.kube.api.refusals import Conflict, Refused
from streamjob_operator.kube.api.times import rfc3339_micro
from streamjob_operator.ports import Unavailable

LOG = logging.getLogger(__name__)


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """Seconds: a lease that was not renewed for `lease_s` is free; a leader that could not renew for `renew_s` ends.

    It is renewed every `retry_s`, and a request that takes longer than `request_s` is given up for the next one.
    """

    lease_s: float = 15.0
    renew_s: float = 10.0
    retry_s: float = 2.0
    request_s: float = 3.0

    def __post_init__(self) -> None:
        if not 0 < self.retry_s < self.renew_s < self.lease_s:
            raise ValueError(f"retry_s < renew_s < lease_s is needed, {self} given")


class Election:
    """One candidate for the Lease `namespace/name`."""

    def __init__(
        self,
        api: KubeApi,
        namespace: str,
        name: str,
        identity: str,
        terms: Terms | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.terms = terms or Terms()
        self.identity = identity
        self._api = api
        self._namespace = namespace
        self._name = name
        self._clock = clock
        self._record: dict[str, Any] | None = None
        self._changed_s = clock()

    def hold(self) -> bool:
        """Take the lease if it is free, renew it if it is ours; whether it is ours now. Raises Unavailable, Refused."""
        found = self._api.get(LEASES, self._name, self._namespace)
        if found is None:
            return self._create()
        spec = found.get("spec") or {}
        if spec != self._record:
            self._record, self._changed_s = spec, self._clock()
        return self._renew(found, spec) if self._free(spec) else False

    def release(self) -> None:
        """Let another one take it at once. Raises Unavailable, Refused."""
        found = self._api.get(LEASES, self._name, self._namespace)
        if found is not None and (found.get("spec") or {}).get("holderIdentity") == self.identity:
            self._write(found, {"holderIdentity": "", "renewTime": _now()})

    def _free(self, spec: dict[str, Any]) -> bool:
        if spec.get("holderIdentity") in (None, "", self.identity):
            return True
        length_s = float(spec.get("leaseDurationSeconds") or self.terms.lease_s)
        return self._clock() - self._changed_s > length_s

    def _create(self) -> bool:
        metadata = {"namespace": self._namespace, "name": self._name}
        spec = {**self._claim(), "acquireTime": _now(), "leaseTransitions": 0}
        try:
            self._api.create(LEASES, {"metadata": metadata, "spec": spec})
        except Conflict:
            return False
        return True

    def _renew(self, found: dict[str, Any], spec: dict[str, Any]) -> bool:
        claim = self._claim()
        if spec.get("holderIdentity") != self.identity:
            claim |= {"acquireTime": _now(), "leaseTransitions": int(spec.get("leaseTransitions") or 0) + 1}
            return self._write(found, claim)
        if not self._write(found, claim):
            # Often by a renewal of ours that we had given up and that arrived late: the next look says whose it is.
            raise Unavailable("The Lease changed while it was renewed.")
        return True

    def _write(self, found: dict[str, Any], claim: dict[str, Any]) -> bool:
        patch = {"metadata": {"resourceVersion": found["metadata"]["resourceVersion"]}, "spec": claim}
        try:
            self._api.merge_patch(LEASES, self._name, self._namespace, patch)
        except Conflict:
            return False
        return True

    def _claim(self) -> dict[str, Any]:
        length_s = max(1, round(self.terms.lease_s))
        return {"holderIdentity": self.identity, "leaseDurationSeconds": length_s, "renewTime": _now()}


def wait_for_lease(
    election: Election,
    over: Callable[[float], bool],
    tell: Callable[[str], None],
    refused: Callable[[str | None], None] = lambda _: None,
) -> bool:
    """Wait until the lease is ours; False when `over`, which waits for so many seconds, says that nobody waits.

    `tell` hears each new sentence about it, `refused` at each attempt why the API server says no, None where not.
    """
    told = None
    while True:
        refusal = None
        try:
            if election.hold():
                refused(None)
                return True
            sentence = "Another operator holds the lease; waiting."
        except Unavailable as error:
            sentence = str(error)
        except Refused as error:  # which may pass: an API server that has just begun knows no roles yet
            sentence = refusal = str(error)
        refused(refusal)
        if sentence != told:
            tell(sentence)
            told = sentence
        if over(election.terms.retry_s):
            return False


def keep_lease(election: Election, over: Callable[[float], bool], clock: Callable[[], float] = time.monotonic) -> bool:
    """Renew until `over`, which is True, or until it was lost or could not be renewed in time, which is False.

    False comes in time even when an attempt hangs: it runs in a thread of its own. A refusal may pass, too: an API
    server that has just begun knows no roles yet.
    """
    attempts = ThreadPoolExecutor(1, thread_name_prefix="renew")
    ends_s = clock() + election.terms.renew_s
    try:
        while not over(max(0.0, min(election.terms.retry_s, ends_s - clock()))):
            begun_s = clock()
            if begun_s >= ends_s:
                return False
            try:
                if not attempts.submit(election.hold).result(ends_s - begun_s):
                    return False
                ends_s = begun_s + election.terms.renew_s  # others may count from the moment it was asked for
            except (Unavailable, Refused) as error:
                LOG.warning("The lease was not renewed: %s", error)
            except TimeoutError:
                return False
        return True
    finally:
        attempts.shutdown(wait=False)


def _now() -> str:
    return rfc3339_micro(time.time())
