"""From a StreamJob as the API server has it to the value that the cycle works with."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

from pydantic import ValidationError

from streamjob_operator.kube.api.times import seconds
from streamjob_operator.spec import StreamJob
from streamjob_operator.spec.lenient import read_known
from streamjob_operator.spec.sentences import sentences

TELLING = ("name", "namespace", "labels", "annotations")
"""Metadata that the job's model knows; the rest is Kubernetes' own."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """One StreamJob as it was read. Exactly one of `job` and `mistakes` is there.

    `unknown` are fields that the API server knows and this version of the operator does not; they have no effect.
    """

    document: Mapping[str, Any]
    job: StreamJob | None
    mistakes: tuple[str, ...]
    unknown: tuple[str, ...] = ()

    @property
    def metadata(self) -> Mapping[str, Any]:
        """As the API server has it."""
        metadata: Mapping[str, Any] = self.document["metadata"]
        return metadata

    @property
    def uid(self) -> str:
        """Of this life of the StreamJob; one of the same name that is made later has another."""
        return str(self.metadata["uid"])

    @property
    def generation(self) -> int:
        """Of the spec."""
        return int(self.metadata.get("generation", 0))

    @property
    def annotations(self) -> Mapping[str, str]:
        """The user's."""
        return self.metadata.get("annotations") or {}

    @property
    def deleted_at_s(self) -> float | None:
        """When its deletion was asked for."""
        text = self.metadata.get("deletionTimestamp")
        return None if text is None else seconds(text)


def read_job(document: Mapping[str, Any]) -> Reading:
    """The job, or a sentence for each mistake that the API server has let pass."""
    metadata = {name: document["metadata"][name] for name in TELLING if name in document["metadata"]}
    told = {**{name: document.get(name) for name in ("apiVersion", "kind", "spec")}, "metadata": metadata}
    try:
        job, unknown = read_known(StreamJob, told)
        return Reading(document=document, job=job, mistakes=(), unknown=unknown)
    except ValidationError as error:
        return Reading(document=document, job=None, mistakes=sentences(error, StreamJob))
