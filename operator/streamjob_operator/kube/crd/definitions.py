"""The two custom resource definitions."""

from __future__ import annotations

from typing import Any

from streamjob_operator.kube import names
from streamjob_operator.kube.crd.schema import Schema, model_schema
from streamjob_operator.kube.models import MapSpec, MapStatus, Status
from streamjob_operator.spec import Spec
from streamjob_operator.spec.job import API_VERSION, NAME_PATTERN

LONGEST_NAME = 63  # a label's value: everything that a job owns is labelled with its name
ABOUT_JOB = "A Spark Structured Streaming job that StreamJob balances and scales while it runs."
ABOUT_MAP = (
    "Where the key groups of a StreamJob should be (spec, written by the operator) and are (status, written by the "
    "agent in the job's Spark driver). Made and deleted with its StreamJob; not for people to edit."
)
Column = tuple[str, str, str, str]  # name, type, path, description


def stream_job() -> dict[str, Any]:
    """The definition of StreamJob."""
    version = _version(ABOUT_JOB, model_schema(Spec), model_schema(Status))
    version["subresources"]["scale"] = {
        "specReplicasPath": ".spec.executors.replicas",
        "statusReplicasPath": ".status.executors.ready",
        "labelSelectorPath": ".status.executors.selector",
    }
    version["schema"]["openAPIV3Schema"]["required"] = ["spec"]
    version["additionalPrinterColumns"] = _columns(
        ("Ready", "string", '.status.conditions[?(@.type=="Ready")].status', "Whether the query runs and is measured."),
        ("Phase", "string", ".status.phase", "What the job is doing."),
        ("Executors", "string", ".status.executors.summary", "Executors ready/target."),
        ("Batch", "string", ".status.batch.summary", "Mean batch, and the latency objective where there is one."),
        ("Moves", "string", ".status.migrations.summary", "Moves of the newest plan, done/all."),
        ("Why", "string", ".status.why", "Why it is not ready, or why the newest cycle acted or did not."),
        ("Age", "date", ".metadata.creationTimestamp", "Age."),
        wide=(
            ("Mode", "string", ".spec.balancing.mode", "How far StreamJob may go."),
            ("Planner", "string", ".spec.balancing.planner", "Name of the planner."),
            ("Load-Dist", "number", ".status.load.distance", "Load distance, percent points."),
            ("Colloc", "number", ".status.collocation.factor", "Collocation, percent."),
            ("Slow", "string", ".status.load.slow", "The slowest executor, and its part of the others' speed."),
            ("Last-Action", "string", ".status.lastAction.reason", "The newest decision that changed something."),
            ("Acted", "date", ".status.lastAction.at", "Time since the newest decision that changed something."),
        ),
    )
    return _definition(names.JOB_KIND, names.JOB_PLURAL, names.JOB_SHORT, version)


def partition_map() -> dict[str, Any]:
    """The definition of PartitionMap."""
    version = _version(ABOUT_MAP, model_schema(MapSpec), model_schema(MapStatus))
    version["additionalPrinterColumns"] = _columns(
        ("Generation", "integer", ".spec.generation", "The newest plan."),
        ("Applied", "integer", ".status.generationApplied", "The plan that the driver follows."),
        ("Actuation", "string", ".status.actuation", "Whether the agent moves key groups."),
        ("Moves-Left", "integer", ".status.queries[0].movesPending", "Moves that are still to be made."),
        ("Age", "date", ".metadata.creationTimestamp", "Age."),
        wide=(
            ("Spark", "string", ".status.sparkVersion", "Spark's version."),
            ("Agent", "string", ".status.agentVersion", "The agent's version."),
            ("Refused", "string", ".status.refused", "Why the newest plan was not taken."),
        ),
    )
    return _definition(names.MAP_KIND, names.MAP_PLURAL, names.MAP_SHORT, version)


def _version(about: str, spec: Schema, status: Schema) -> dict[str, Any]:
    name = {"type": "string", "maxLength": LONGEST_NAME, "pattern": f"^{NAME_PATTERN}$"}
    root = {
        "type": "object",
        "description": about,
        "properties": {
            "apiVersion": {"type": "string", "description": f"Always {API_VERSION}."},
            "kind": {"type": "string", "description": "The kind of this object."},
            "metadata": {"type": "object", "properties": {"name": name}},
            "spec": spec,
            "status": status,
        },
    }
    return {
        "name": names.VERSION,
        "served": True,
        "storage": True,
        "schema": {"openAPIV3Schema": root},
        "subresources": {"status": {}},
    }


def _columns(*columns: Column, wide: tuple[Column, ...]) -> list[dict[str, Any]]:
    return [*(_column(*one) for one in columns), *({**_column(*one), "priority": 1} for one in wide)]


def _column(name: str, kind: str, path: str, about: str) -> dict[str, Any]:
    return {"name": name, "type": kind, "jsonPath": path, "description": about}


def _definition(kind: str, plural: str, short: str, version: dict[str, Any]) -> dict[str, Any]:
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{plural}.{names.GROUP}", "labels": {"app.kubernetes.io/name": "streamjob"}},
        "spec": {
            "group": names.GROUP,
            "scope": "Namespaced",
            "names": {
                "kind": kind,
                "listKind": f"{kind}List",
                "plural": plural,
                "singular": kind.lower(),
                "shortNames": [short],
                "categories": [names.CATEGORY],
            },
            "versions": [version],
        },
    }
