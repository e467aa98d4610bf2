"""Events of events.k8s.io/v1. An event's name is made from what it tells, so that telling it again only counts it."""

from __future__ import annotations

import dataclasses
import hashlib
import logging
import socket
from collections.abc import Mapping
from typing import Any

from streamjob_operator.kube.api.client import KubeApi
from streamjob_operator.kube.api.kinds import EVENTS
from streamjob_operator.kube.api.refusals import Conflict, Refused
from streamjob_operator.kube.api.times import rfc3339_micro
from streamjob_operator.kube.names import GROUP
from streamjob_operator.kube.report.conditions import code
from streamjob_operator.ports import Unavailable
from streamjob_operator.unsteered import first_bytes

LOG = logging.getLogger(__name__)
CONTROLLER = f"{GROUP}/operator"
LONGEST_NOTE_BYTES, LONGEST_REASON = 1024, 128
"""The API server counts a note's bytes, in UTF-8, and refuses an event whose note has more."""
NORMAL, WARNING = "Normal", "Warning"


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Telling:
    """What is told. The same `reason` and `key` of the same object is one event, counted.

    `action` says what the operator was doing; `key` tells decisions of one reason apart, "" is one event for all.
    """

    reason: str
    note: str
    action: str
    key: str = ""
    warning: bool = False


class Events:
    """Posts events; raises Unavailable and Refused like any other call."""

    def __init__(self, api: KubeApi) -> None:
        self._api = api
        self._instance = socket.gethostname()[:128]

    def tell(self, regarding: Mapping[str, Any], telling: Telling, now_s: float) -> None:
        """Post it, or count it where it was posted before."""
        document = self._document(regarding, telling, now_s)
        try:
            self._api.create(EVENTS, document)
        except Conflict:
            self._count(document["metadata"]["name"], document["metadata"]["namespace"], rfc3339_micro(now_s))
        except Refused as refusal:
            if refusal.status != 404:  # the namespace is going away: nobody is left to tell
                raise

    def mention(self, regarding: Mapping[str, Any], telling: Telling, now_s: float) -> None:
        """Tell it if that can be: what is done besides is not held up by a quota, or a server that takes no events."""
        try:
            self.tell(regarding, telling, now_s)
        except (Unavailable, Refused) as error:
            where = "{namespace}/{name}".format(**regarding["metadata"])
            LOG.warning("An event of %s could not be posted: %s", where, error, extra={"reason": telling.reason})

    def _count(self, name: str, namespace: str, at: str) -> None:
        found = self._api.get(EVENTS, name, namespace)
        if found is None:
            return  # it has just expired; the next one is new
        series = found.get("series") or {}
        if at in (found.get("eventTime"), series.get("lastObservedTime")):
            return  # this very telling was posted by a call whose answer was lost
        told = {"count": int(series.get("count", 1)) + 1, "lastObservedTime": at}
        self._api.merge_patch(EVENTS, name, namespace, {"series": told})

    def _document(self, regarding: Mapping[str, Any], telling: Telling, now_s: float) -> dict[str, Any]:
        metadata = regarding["metadata"]
        return {
            "metadata": {"name": event_name(regarding, telling), "namespace": metadata["namespace"]},
            "regarding": {
                "apiVersion": regarding["apiVersion"],
                "kind": regarding["kind"],
                "name": metadata["name"],
                "namespace": metadata["namespace"],
                "uid": metadata["uid"],
            },
            "type": WARNING if telling.warning else NORMAL,
            "reason": code(telling.reason)[:LONGEST_REASON],
            "note": first_bytes(telling.note, LONGEST_NOTE_BYTES),
            "action": telling.action,
            "eventTime": rfc3339_micro(now_s),
            "reportingController": CONTROLLER,
            "reportingInstance": self._instance,
        }


def event_name(regarding: Mapping[str, Any], telling: Telling) -> str:
    """The name of the object and a hash of what makes the event what it is."""
    metadata = regarding["metadata"]
    facts = "\n".join((metadata["uid"], telling.reason, telling.key))
    named = metadata["name"][:200].rstrip("-.")  # a name may have no dash before a dot
    return f"{named}.{hashlib.sha256(facts.encode()).hexdigest()[:16]}"
