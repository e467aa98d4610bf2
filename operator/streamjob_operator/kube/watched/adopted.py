"""Which StreamJobs look after a pod that somebody else made, told by the pod alone."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from streamjob_operator.kube.api.kinds import KUBEFLOW_APPLICATIONS
from streamjob_operator.kube.driver.foreign import NAME_LABELS
from streamjob_operator.kube.driver.naming import SPARK_ROLE
from streamjob_operator.kube.names import Label
from streamjob_operator.kube.pods.executors import APPLICATION

Document = Mapping[str, Any]
Key = tuple[str, str]
_NAME = "metadata.name"


class Adopted:
    """Learns from StreamJobs what they refer to, and from PartitionMaps whose Spark application is which."""

    def __init__(self) -> None:
        self._wanted: dict[str, dict[str, Mapping[str, str]]] = {}
        self._applications: dict[Key, str] = {}
        self._application_of: dict[Key, str] = {}

    def job(self, document: Document, *, gone: bool = False) -> None:
        """A StreamJob was seen."""
        namespace, name = _key(document)
        reference = (document.get("spec") or {}).get("applicationRef")
        if gone or reference is None:
            self._forget(namespace, name)
        else:
            self._wanted.setdefault(namespace, {})[name] = _words(reference)

    def keep(self, jobs: Collection[Key], maps: Collection[Key]) -> None:
        """These are all that there are: what has gone unseen is forgotten."""
        for namespace, names in list(self._wanted.items()):
            for name in [one for one in names if (namespace, one) not in jobs]:
                self._forget(namespace, name)
        for key in [one for one in self._application_of if one not in maps]:
            self._unmap(key)

    def _forget(self, namespace: str, name: str) -> None:
        wanted = self._wanted.get(namespace, {})
        wanted.pop(name, None)
        if not wanted:
            self._wanted.pop(namespace, None)

    def map(self, document: Document, *, gone: bool = False) -> None:
        """A PartitionMap was seen."""
        key = _key(document)
        application = None if gone else (document.get("status") or {}).get("applicationId")
        self._unmap(key)
        if application is not None:
            self._application_of[key], self._applications[key[0], application] = application, key[1]

    def _unmap(self, key: Key) -> None:
        before = self._application_of.pop(key, None)
        if before is not None and self._applications.get((key[0], before)) == key[1]:
            del self._applications[key[0], before]

    def jobs_of(self, pod: Document) -> tuple[str, ...]:
        """Names of the StreamJobs, in the pod's namespace, that a change of this pod is news for."""
        labels, (namespace, name) = pod["metadata"].get("labels") or {}, _key(pod)
        if Label.JOB.value in labels:
            return (labels[Label.JOB.value],)
        if labels.get(SPARK_ROLE) == "executor":
            found = self._applications.get((namespace, labels.get(APPLICATION, "")))
            return () if found is None else (found,)
        words = {**labels, _NAME: name}.items()
        return tuple(job for job, wanted in self._wanted.get(namespace, {}).items() if wanted.items() <= words)


def _words(reference: Mapping[str, Any]) -> Mapping[str, str]:
    """Labels that its driver's pod has, or its name; the API server has judged the reference."""
    if reference.get("matchLabels"):
        return dict(reference["matchLabels"])
    if reference.get("kind") == "Pod":
        return {_NAME: reference["name"]}
    label = NAME_LABELS.get(reference.get("apiVersion", ""), NAME_LABELS[KUBEFLOW_APPLICATIONS.api_version])
    return {label: reference["name"]}


def _key(document: Document) -> Key:
    return document["metadata"]["namespace"], document["metadata"]["name"]
