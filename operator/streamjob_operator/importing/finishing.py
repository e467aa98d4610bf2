"""What only can be said once all fields are known: volumes, memory, templates, settings that a field stands for."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from streamjob_operator.importing.draft import ROLES, Draft, Map, lookup
from streamjob_operator.importing.puts import memory
from streamjob_operator.spec.application import CONTROLLED, SAID_ELSEWHERE
from streamjob_operator.spec.quantities import mebibytes, overhead_mib

_THEIR_CONTAINER = {"driver": "spark-kubernetes-driver", "executor": "spark-kubernetes-executor"}
_ALLOCATION = "spark.dynamicAllocation."
_EXECUTORS = "spark.executor.instances"
_NAMES = ("name", "generateName", "namespace", "ownerReferences", "creationTimestamp")


def take_template(draft: Draft, role: str, template: Mapping[str, Any]) -> None:
    """Their pod template below ours; what StreamJob says elsewhere goes there."""
    metadata, spec = dict(template.get("metadata") or {}), dict(template.get("spec") or {})
    for name in _NAMES:
        if metadata.pop(name, None) is not None and name != "creationTimestamp":
            draft.note(f"{role} template, metadata.{name}: StreamJob names pods itself.")
    containers = [dict(one) for one in spec.pop("containers", None) or []]
    main = next((one for one in containers if one.get("name") == _THEIR_CONTAINER[role]), (containers or [{}])[0])
    if containers:
        _take_container(draft, role, main)
        draft.template(role, "spec")["containers"] = [main, *(one for one in containers if one is not main)]
    draft.template(role, "spec").update({name: value for name, value in spec.items() if value is not None})
    if metadata:
        draft.template(role)["metadata"] = metadata
    _tidy_spec(draft, role)


def _take_container(draft: Draft, role: str, main: Map) -> None:
    main["name"] = role
    image = main.pop("image", None)
    if image:
        draft.under(role).setdefault("image", image)
    for name in ("command", "args", "readinessProbe") if role == "driver" else ("args",):
        if main.pop(name, None):
            draft.note(f"{role} template, {name} of its container: StreamJob or Spark sets it.")


def _tidy_spec(draft: Draft, role: str) -> None:
    spec = draft.template(role, "spec")
    if role == "driver" and spec.pop("restartPolicy", "Never") != "Never":
        draft.note("driver template, spec.restartPolicy: application.restart says when a driver is started again.")
    if role == "driver" and spec.get("automountServiceAccountToken") is False:
        del spec["automountServiceAccountToken"]
        draft.note("driver template, spec.automountServiceAccountToken: the driver needs its token.")


def share_volumes(draft: Draft, volumes: list[Map]) -> None:
    """Each volume for the pods that mount it."""
    for volume in volumes:
        users = [role for role in ROLES if volume["name"] in _mounted(draft, role)]
        for role in users:
            draft.template(role, "spec").setdefault("volumes", []).append(volume)
        if not users:
            draft.note(f"volumes: {volume['name']} is mounted by no pod, so it was left out.")


def _mounted(draft: Draft, role: str) -> set[str]:
    spec = lookup(draft.application, f"{role}.podTemplate.spec") or {}
    containers = [*spec.get("containers", []), *spec.get("initContainers", [])]
    return {mount["name"] for one in containers for mount in one.get("volumeMounts") or ()}


def gpus(draft: Draft, role: str, gpu: Mapping[str, Any]) -> None:
    """GPUs as a limit of the container."""
    if gpu:
        limits = draft.container(role).setdefault("resources", {}).setdefault("limits", {})
        limits[gpu["name"]] = str(gpu["quantity"])


def driver_memory(draft: Draft, overhead: Any, factor: Any) -> None:
    """The driver's container is sized for heap and overhead, where the source says how much that is."""
    if overhead is None and factor is None:
        return
    heap = mebibytes(draft.under("driver").get("memory", "1g")) or 1024.0
    beside = mebibytes(overhead) if overhead is not None else overhead_mib(heap, float(factor))
    if beside is None:
        draft.note(f"driver.memoryOverhead: '{overhead}' is no size of Spark's, so it was left out.")
        return
    size = f"{math.ceil(heap + beside)}Mi"
    resources = draft.container("driver").setdefault("resources", {})
    for kind in ("requests", "limits"):
        resources.setdefault(kind, {}).setdefault("memory", size)


def allocation(draft: Draft) -> Map:
    """What settings say of Spark's dynamic allocation, as Kubeflow's fields say it; empty where it is not switched on.

    Its bounds become those of the executors, so they are taken out of the settings.
    """
    settings = draft.application.get("sparkConf", {})
    if settings.get(f"{_ALLOCATION}enabled", "false").lower() != "true":
        return {}
    bounds = {name: settings.pop(f"{_ALLOCATION}{name}", None) for name in ("minExecutors", "maxExecutors")}
    return {"enabled": True, **{name: int(value) for name, value in bounds.items() if value is not None}}


def stated_executors(draft: Draft) -> int | None:
    """Executors that Spark's own setting asks for; None where it says no number. It counts where no field says one."""
    value = str(draft.application.get("sparkConf", {}).get(_EXECUTORS, ""))
    return int(value) if value.isdecimal() else None


def bound_executors(draft: Draft, least: int, most: int | None, stated: int, *, allocated: bool) -> None:
    """Bounds of the executors: `most` where it is given, else as many as are `stated`.

    Spark's dynamic allocation, where the source has it (`allocated`), may go without an upper bound; a StreamJob always
    has one.
    """
    draft.executors.update(min=least, max=max(least, most or stated))
    if allocated and not most:
        draft.note(
            "dynamicAllocation.maxExecutors: nothing given, which is no limit there; executors.max is "
            f"{draft.executors['max']}: set it to the most that the job may have."
        )


def main_class(draft: Draft) -> None:
    """The class stays where there is a jar: Spark's own runner of scripts is such a class, too."""
    given, file = draft.application.get("mainClass"), str(draft.application.get("mainFile", ""))
    if given is not None and not file.lower().endswith(".jar"):
        del draft.application["mainClass"]
        draft.note(f"mainClass: {given} given and left out: no jar is named to find it in.")


def tidy_settings(draft: Draft) -> None:
    """Settings that StreamJob refuses become fields, or are left out with a sentence."""
    settings = draft.application.get("sparkConf", {})
    for key in CONTROLLED:
        if settings.get(key, "false").lower() != "false":
            value = settings.pop(key)
            draft.note(f"sparkConf: {key} was '{value}' and was left out: StreamJob moves tasks and executors itself.")
    for key, place in SAID_ELSEWHERE.items():
        if key in settings:
            _to_field(draft, key, place, settings.pop(key))
    if not settings:
        draft.application.pop("sparkConf", None)


def _to_field(draft: Draft, key: str, place: str, value: str) -> None:
    *parents, name = place.removeprefix("spec.").removeprefix("application").lstrip(".").split(".")
    if place == "spec.executors":
        _executors(draft, key, value)
        return
    target = draft.under(*parents)
    if name in target:
        if str(target[name]) != value:
            draft.note(f"sparkConf: {key} was '{value}' and was left out: {place} says '{target[name]}'.")
    elif name == "memory":
        memory(draft, f"{parents[0]}.", value)
    elif name == "pyFiles":
        target[name] = value.split(",")
    else:
        target[name] = int(value) if name == "cores" and value.isdecimal() else value


def _executors(draft: Draft, key: str, value: str) -> None:
    least, most = draft.executors["min"], draft.executors["max"]
    if not value.isdecimal():
        draft.note(f"sparkConf: {key} was '{value}', which is no number, and was left out.")
    elif int(value) not in (least, most):
        draft.note(f"sparkConf: {key} was '{value}' and was left out: spec.executors says {least} to {most}.")
