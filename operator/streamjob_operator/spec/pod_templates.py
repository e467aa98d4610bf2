"""What a user's pod template may not say, because StreamJob or Spark decides it: a sentence for each.

Everything else is the user's: accounts, volumes, tolerations, sidecars, resources. Nothing is overridden unseen.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

Template = Mapping[str, Any]
DRIVER, EXECUTOR = "driver", "executor"
_NAMED = "it is made by StreamJob"
_METADATA = {"name": _NAMED, "generateName": _NAMED, "namespace": "it is the StreamJob's", "ownerReferences": _NAMED}
_LABELS = ("streamjob.dev/job", "spark-role", "spark-app-selector", "spark-exec-id")
_ENV_PREFIX, _ENV = "STREAMJOB_", ("PYSPARK_SUBMIT_ARGS",)
_IMAGE = "application.{role}.image says it, or application.image for all pods"
_DRIVERS = {
    "image": _IMAGE.format(role=DRIVER),
    "command": "the agent starts the script; application.mainFile names it",
    "args": "application.args says them",
    "readinessProbe": "the agent's own is needed",
}
Folder = tuple[str, str]
"""A variable, and the path that it has."""
HADOOP: Folder = ("HADOOP_CONF_DIR", "/etc/hadoop/conf")
SPARK: Folder = ("SPARK_CONF_DIR", "/etc/spark/conf")
_VOLUMES = ("streamjob-settings", "streamjob-hadoop-conf", "streamjob-spark-conf")
_SETTINGS = "/etc/streamjob"
_EXECUTORS = {"image": _IMAGE.format(role=EXECUTOR), "args": "Spark says them"}


def driver_template_mistakes(template: Template) -> Iterator[str]:
    """Sentences without a full stop, each with the field, and what to do."""
    spec = _map(template.get("spec"))
    yield from _common(template, DRIVER, _DRIVERS)
    if spec.get("restartPolicy", "Never") != "Never":
        yield _sentence(DRIVER, "spec.restartPolicy", "application.restart says when a driver is started again")
    if spec.get("automountServiceAccountToken") is False:
        yield _sentence(DRIVER, "spec.automountServiceAccountToken", "the driver needs its token to ask for executors")
    for one in _list(main_container(spec, DRIVER).get("env")):
        name = str(_map(one).get("name"))
        if name.startswith(_ENV_PREFIX) or name in _ENV:
            yield _sentence(
                DRIVER, f"spec.containers, env {name}", "StreamJob sets it; Spark's settings go to sparkConf"
            )


def executor_template_mistakes(template: Template) -> Iterator[str]:
    """As :func:`driver_template_mistakes`, for an executor's."""
    yield from _common(template, EXECUTOR, _EXECUTORS)


def folder_mistakes(template: Template, role: str, folders: Mapping[str, Folder]) -> Iterator[str]:
    """Sentences about what the folders of ConfigMaps would replace unseen; `folders`: field of the spec -> folder."""
    main = main_container(_map(template.get("spec")), role)
    named = {str(_map(one).get("name")) for one in _list(main.get("env"))}
    mounted = {str(_map(one).get("mountPath")).rstrip("/") for one in _list(main.get("volumeMounts"))}
    for field, (variable, path) in folders.items():
        also = f"{field} mounts its files at {path}, where {variable} says they are; leave one of the two out"
        if variable in named:
            yield f"{role}.podTemplate, spec.containers, env {variable}: {also}"
        if path in mounted:
            yield f"{role}.podTemplate, spec.containers, volumeMounts at {path}: {also}"


def main_container(spec: Template, name: str) -> Template:
    """Ours among a template's containers: the one of that name, else the first, as Spark takes it."""
    containers = [_map(one) for one in _list(spec.get("containers"))] or [{}]
    return next((one for one in containers if one.get("name") == name), containers[0])


def _common(template: Template, role: str, container: Mapping[str, str]) -> Iterator[str]:
    metadata, spec = _map(template.get("metadata")), _map(template.get("spec"))
    for field, why in _METADATA.items():
        if field in metadata:
            yield _sentence(role, f"metadata.{field}", why)
    for label in _LABELS:
        if label in _map(metadata.get("labels")):
            yield _sentence(role, f"metadata.labels, {label}", "by it the pod is found")
    main = main_container(spec, role)
    yield from _mounted(spec, main, role)
    for field, why in container.items():
        if field in main:
            yield _sentence(role, f"spec.containers, {field} of the {role}'s", why)


def _mounted(spec: Template, main: Template, role: str) -> Iterator[str]:
    for one in _list(spec.get("volumes")):
        if _map(one).get("name") in _VOLUMES:
            yield _sentence(role, f"spec.volumes, {_map(one)['name']}", _NAMED)
    for one in _list(main.get("volumeMounts")):
        if str(_map(one).get("mountPath")).rstrip("/") == _SETTINGS:
            yield _sentence(role, f"spec.containers, volumeMounts at {_SETTINGS}", "Spark's settings are there")


def _sentence(role: str, field: str, why: str) -> str:
    return f"{role}.podTemplate, {field}: {why}, leave it out"


def _map(value: Any) -> Template:
    return value if isinstance(value, Mapping) else {}


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []
