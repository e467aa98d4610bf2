"""What a user's pod template may not say, because StreamJob or Spark decides it: a sentence for each.

Everything else is the user's: accounts, volumes, tolerations, sidecars, resources. Nothing is overridden unseen. The
API server says the same sentences (`template_shapes.py`), from the tables of this file. Null is nothing, as for it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from streamjob_operator.spec.pod_shapes import entries_of, fields_of, shape_mistakes
from streamjob_operator.spec.sentences import Mistake, shown

Template = Mapping[str, Any]
DRIVER, EXECUTOR = "driver", "executor"
NAMED = "it is made by StreamJob"
METADATA = {"name": NAMED, "generateName": NAMED, "namespace": "it is the StreamJob's", "ownerReferences": NAMED}
LABELS = ("streamjob.dev/job", "spark-role", "spark-app-selector", "spark-exec-id")
LABELLED = "by it the pod is found"
ENV_PREFIX, ENV = "STREAMJOB_", "PYSPARK_SUBMIT_ARGS"
ENV_SET = "StreamJob sets it; Spark's settings go to sparkConf"
_IMAGE = "application.{role}.image says it, or application.image for all pods"
MAIN = {
    DRIVER: {
        "image": _IMAGE.format(role=DRIVER),
        "command": "the agent starts the script; application.mainFile names it",
        "args": "application.args says them",
        "readinessProbe": "the agent's own is needed",
    },
    EXECUTOR: {"image": _IMAGE.format(role=EXECUTOR), "args": "Spark says them"},
}
"""Role -> fields of its container, and who says them."""
RESTARTED = "application.restart says when a driver is started again"
GRACE_HINT = "a whole number of seconds is needed, 0 or more"
TOKEN = "the driver needs its token to ask for executors"
Folder = tuple[str, str]
"""A variable, and the path that it has."""
HADOOP: Folder = ("HADOOP_CONF_DIR", "/etc/hadoop/conf")
SPARK: Folder = ("SPARK_CONF_DIR", "/etc/spark/conf")
VOLUMES = ("streamjob-settings", "streamjob-hadoop-conf", "streamjob-spark-conf")
SETTINGS = "/etc/streamjob"
SETTINGS_THERE = "Spark's settings are there"
FOLDERS: Mapping[str, Mapping[str, Folder]] = {
    DRIVER: {"hadoopConfigMap": HADOOP, "sparkConfigMap": SPARK},
    EXECUTOR: {"hadoopConfigMap": HADOOP},
}
"""Role -> field of the application that names a ConfigMap -> folder that its pods get."""


def template_mistakes(template: Template, role: str) -> Iterator[Mistake]:
    """What the template of `driver` or `executor` may not say; paths are within the template."""
    metadata, spec = fields_of(template.get("metadata")), fields_of(template.get("spec"))
    main = main_container(spec, role)
    yield from shape_mistakes(template)
    yield from _named(metadata)
    if role == DRIVER:
        yield from _drivers(spec)
    for one in entries_of(spec.get("volumes")):
        if fields_of(one).get("name") in VOLUMES:
            yield Mistake("spec.volumes", left_out(shown(fields_of(one)["name"]), NAMED))
    for field, why in MAIN[role].items():
        if main.get(field) is not None:
            yield Mistake("spec.containers", in_main(role, field, left_out(shown(main[field]), why)))
    for name in _names(main, "env", "name"):
        if role == DRIVER and (name.startswith(ENV_PREFIX) or name == ENV):
            yield Mistake("spec.containers", in_main(role, "env", left_out(shown(name), ENV_SET)))
    for path in _names(main, "volumeMounts", "mountPath"):
        if path in either(SETTINGS):
            yield Mistake("spec.containers", in_main(role, "volumeMounts", left_out(shown(path), SETTINGS_THERE)))


def folder_mistakes(template: Template, role: str, field: str) -> Iterator[Mistake]:
    """What the ConfigMap that `field` of the application names would replace unseen; paths are within the template."""
    main = main_container(fields_of(template.get("spec")), role)
    variable, path = FOLDERS[role][field]
    given = [("env", name) for name in _names(main, "env", "name") if name == variable]
    given += [("volumeMounts", at) for at in _names(main, "volumeMounts", "mountPath") if at in either(path)]
    for where, value in given:
        yield Mistake("spec.containers", in_main(role, where, f"{shown(value)} given; {folder_said(role, field)}"))


def left_out(given: str, why: str) -> str:
    """The end of a sentence about what is said elsewhere."""
    return f"{given} given; {why}, leave it out"


def in_main(role: str, field: str, said: str) -> str:
    """The same of a field of the container that is Spark's."""
    return f"{field} of the {role}'s container: {said}"


def folder_said(role: str, field: str) -> str:
    """Why a variable or path is taken once `field` of the application names a ConfigMap."""
    variable, path = FOLDERS[role][field]
    return f"application.{field} mounts its files at {path}, where {variable} says they are; leave one of the two out"


def either(path: str) -> tuple[str, str]:
    """How a folder may be written."""
    return path, f"{path}/"


def main_container(spec: Template, name: str) -> Template:
    """Ours among a template's containers: the one of that name, else the first, as Spark takes it."""
    containers = [fields_of(one) for one in entries_of(spec.get("containers"))] or [{}]
    return next((one for one in containers if one.get("name") == name), containers[0])


def _named(metadata: Template) -> Iterator[Mistake]:
    for field, why in METADATA.items():
        if metadata.get(field) is not None:
            yield Mistake(f"metadata.{field}", left_out(shown(metadata[field]), why))
    labels = fields_of(metadata.get("labels"))
    for label in LABELS:
        if labels.get(label) is not None:
            yield Mistake(f"metadata.labels[{label}]", left_out(shown(labels[label]), LABELLED))


def _drivers(spec: Template) -> Iterator[Mistake]:
    policy, token = spec.get("restartPolicy"), spec.get("automountServiceAccountToken")
    if policy not in (None, "Never"):
        yield Mistake("spec.restartPolicy", left_out(shown(policy), RESTARTED))
    grace_s = spec.get("terminationGracePeriodSeconds")
    if grace_s is not None and (not isinstance(grace_s, int) or isinstance(grace_s, bool) or grace_s < 0):
        yield Mistake("spec.terminationGracePeriodSeconds", f"{shown(grace_s)} given; {GRACE_HINT}")
    if token is False:
        yield Mistake("spec.automountServiceAccountToken", left_out(shown(token), TOKEN))


def _names(container: Template, field: str, key: str) -> list[str]:
    return [str(fields_of(one).get(key)) for one in entries_of(container.get(field))]
