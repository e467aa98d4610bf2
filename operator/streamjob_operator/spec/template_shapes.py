"""What the API server looks at in a pod template: `pod_templates.py` in its language, with the same sentences.

Its rules need fields of a known type, so a template's shape names what they speak of and keeps all else as it is. Lists
have a most, far above what a pod has: the API server weighs a rule by the longest list possible.
"""

from __future__ import annotations

import dataclasses
from typing import Annotated, Any

from annotated_types import MaxLen
from pydantic import Field

from streamjob_operator.spec import pod_templates as owned
from streamjob_operator.spec.base import Part
from streamjob_operator.spec.rules import Rule, quoted, told

MOST_CONTAINERS, MOST = 50, 1000
"""Entries of a template's list of containers, and of its other lists."""
_RESERVED = {"namespace": "__namespace__"}
"""Fields that are words of the language, as its rules name them; newer API servers take both."""
_TEXT, _LIST, _MAP = "'%s'", "a list", "a map"


def _absent(field: str, given: str, why: str) -> Rule:
    """An object may not have `field`; `given` is what it has there, `'%s'` for its text."""
    said, name = owned.left_out(given, why), _RESERVED.get(field, field)
    return Rule(f"!has(self.{name})", said.replace(_TEXT, "text"), f".{field}", _told(said, f"self.{name}"))


def _told(said: str, value: str) -> str:
    return told(said, value) if _TEXT in said else ""


def _label(name: str) -> Rule:
    key, said = quoted(name), owned.left_out(_TEXT, owned.LABELLED)
    rule = f"!has(self.labels) || !({key} in self.labels)"
    return Rule(rule, said.replace(_TEXT, "a value"), f".labels[{key}]", told(said, f"self.labels[{key}]"))


def main(role: str, containers: str = "self") -> str:
    """CEL for the container that is Spark's; there must be one."""
    named = f"c, has(c.name) && c.name == {quoted(role)}"
    return f"({containers}.exists({named}) ? {containers}.filter({named})[0] : {containers}[0])"


def _in_main(role: str, field: str, why: str) -> Rule:
    given = {"image": _TEXT, "readinessProbe": _MAP}.get(field, _LIST)
    said, container = owned.in_main(role, field, owned.left_out(given, why)), main(role)
    return Rule(
        f"self.size() == 0 || !has({container}.{field})",
        said.replace(_TEXT, "text"),
        told=_told(said, f"{container}.{field}"),
    )


def _none_of(role: str, field: str, key: str, wrong: str, said: str, containers: str = "self") -> Rule:
    """No entry of a list of the main container may have a `key` that is `wrong`; `self` is the containers."""
    container = main(role, containers)
    entries = f"{container}.{field}"
    return Rule(
        f"{containers}.size() == 0 || !has({entries}) || !{entries}.exists(e, has(e.{key}) && {wrong})",
        owned.in_main(role, field, said.replace(_TEXT, "text")),
        told=told(owned.in_main(role, field, said), f"{entries}.filter(e, has(e.{key}) && {wrong})[0].{key}"),
    )


def _containers(role: str) -> tuple[Rule, ...]:
    rules = [_in_main(role, field, why) for field, why in owned.MAIN[role].items()]
    if role == owned.DRIVER:
        ours = f"(e.name.startsWith({quoted(owned.ENV_PREFIX)}) || e.name == {quoted(owned.ENV)})"
        rules.append(_none_of(role, "env", "name", ours, owned.left_out(_TEXT, owned.ENV_SET)))
    said = owned.left_out(_TEXT, owned.SETTINGS_THERE)
    return (*rules, _none_of(role, "volumeMounts", "mountPath", _at(owned.SETTINGS), said))


def _at(path: str) -> str:
    return f"e.mountPath in [{', '.join(quoted(one) for one in owned.either(path))}]"


def folder_rules() -> tuple[Rule, ...]:
    """For the application: what a ConfigMap's folder would replace in the templates."""
    return tuple(rule for role, fields in owned.FOLDERS.items() for field in fields for rule in _folder(role, field))


def _folder(role: str, field: str) -> tuple[Rule, ...]:
    variable, path = owned.FOLDERS[role][field]
    template, at = f"self.{role}.podTemplate", f".{role}.podTemplate.spec.containers"
    containers, said = f"{template}.spec.containers", f"{_TEXT} given; {owned.folder_said(role, field)}"
    nothing = (
        f"!has(self.{field}) || !has(self.{role}) || !has({template}) || !has({template}.spec) || "
        f"!has({containers}) || "
    )
    entries = (("env", "name", f"e.name == {quoted(variable)}"), ("volumeMounts", "mountPath", _at(path)))
    rules = (_none_of(role, *one, said, containers) for one in entries)
    return tuple(dataclasses.replace(rule, expression=f"{nothing}{rule.expression}", path=at) for rule in rules)


_VOLUME = f"v, has(v.name) && v.name in [{', '.join(quoted(one) for one in owned.VOLUMES)}]"
_VOLUME_SAID = owned.left_out(_TEXT, owned.NAMED)
_NO_VOLUME_OF_OURS = Rule(
    f"!self.exists({_VOLUME})",
    _VOLUME_SAID.replace(_TEXT, "one"),
    told=told(_VOLUME_SAID, f"self.filter({_VOLUME})[0].name"),
)


class Named(Part):
    """A volume, or a variable of a container."""

    KEEPS_UNKNOWN = True

    name: str | None = None
    """Its name. Default: none."""


class Mount(Part):
    """Where a container has a volume."""

    KEEPS_UNKNOWN = True

    mount_path: str | None = None
    """Its path. Default: none."""


class Port(Part):
    """A port of a container."""

    KEEPS_UNKNOWN = True

    container_port: int | None = None
    """Its number. Default: none."""


class Toleration(Part):
    """A taint that the pods bear."""

    KEEPS_UNKNOWN = True

    key: str | None = None
    """Of the taint. Default: any."""


class Container(Part):
    """A container. Spark's is the one named like the pod's role, driver or executor, else the first."""

    KEEPS_UNKNOWN = True

    name: str | None = None
    """Its name. Default: none."""

    image: str | None = None
    """Its image; refused for Spark's own container. Default: none."""

    command: tuple[str, ...] | None = None
    """Its command; refused for the driver's own container. Default: none."""

    args: tuple[str, ...] | None = None
    """Its arguments; refused for Spark's own container. Default: none."""

    readiness_probe: dict[str, Any] | None = None
    """Its readiness probe; refused for the driver's own container. Default: none."""

    env: Annotated[tuple[Named, ...], MaxLen(MOST)] | None = None
    """Its variables. Default: none; at most 1000."""

    ports: Annotated[tuple[Port, ...], MaxLen(MOST)] | None = None
    """Its ports. Default: none; at most 1000."""

    volume_mounts: Annotated[tuple[Mount, ...], MaxLen(MOST)] | None = None
    """Where it has volumes. Default: none; at most 1000."""


class TemplateMetadata(Part):
    """Labels, annotations and the like of the pod. What StreamJob or Spark must decide itself is refused."""

    KEEPS_UNKNOWN = True
    RULES = (
        *(_absent(field, _LIST if field == "ownerReferences" else _TEXT, why) for field, why in owned.METADATA.items()),
        *(_label(name) for name in owned.LABELS),
    )

    name: str | None = None
    """Refused. Default: none."""

    generate_name: str | None = None
    """Refused. Default: none."""

    namespace: str | None = None
    """Refused. Default: none."""

    owner_references: tuple[dict[str, Any], ...] | None = None
    """Refused. Default: none."""

    labels: dict[str, str] | None = None
    """Labels of the pod; those by which it is found are refused. Default: none."""


class PodSpec(Part):
    """Spec of the pod. What StreamJob or Spark must decide itself is refused."""

    KEEPS_UNKNOWN = True

    volumes: Annotated[tuple[Named, ...], MaxLen(MOST), _NO_VOLUME_OF_OURS] | None = None
    """Volumes. Default: none; at most 1000."""


class DriverSpec(PodSpec):
    """Spec of the driver's pod. What StreamJob or Spark must decide itself is refused."""

    RULES = (
        Rule(
            "!has(self.restartPolicy) || self.restartPolicy == 'Never'",
            owned.left_out("another than Never", owned.RESTARTED),
            ".restartPolicy",
            told(owned.left_out(_TEXT, owned.RESTARTED), "self.restartPolicy"),
        ),
        Rule(
            "!has(self.automountServiceAccountToken) || self.automountServiceAccountToken",
            owned.left_out("false", owned.TOKEN),
            ".automountServiceAccountToken",
        ),
    )

    termination_grace_period_seconds: int | None = Field(default=None, ge=0)
    """Time in which the driver may stop between two batches. Seconds, at least 0, default 120."""

    restart_policy: str | None = None
    """Never, or left out. Default: Never."""

    automount_service_account_token: bool | None = None
    """true, or left out. Default: true."""

    containers: Annotated[tuple[Container, ...], MaxLen(MOST_CONTAINERS), *_containers(owned.DRIVER)] | None = None
    """Containers; the driver's is the one of that name, else the first. Default: that one alone; at most 50."""


class ExecutorSpec(PodSpec):
    """Spec of the executors' pods. What StreamJob or Spark must decide itself is refused."""

    tolerations: Annotated[tuple[Toleration, ...], MaxLen(MOST)] | None = None
    """Taints that the pods bear. Default: nodes that are gone, for 30 s; at most 1000."""

    containers: Annotated[tuple[Container, ...], MaxLen(MOST_CONTAINERS), *_containers(owned.EXECUTOR)] | None = None
    """Containers; the executor's is the one of that name, else the first. Default: that one alone; at most 50."""


class DriverTemplate(Part):
    """What is looked at in the driver's template."""

    KEEPS_UNKNOWN = True

    metadata: TemplateMetadata | None = None
    """Labels, annotations and the like of the pod. What StreamJob or Spark must decide itself is refused."""

    spec: DriverSpec | None = None
    """Spec of the pod. What StreamJob or Spark must decide itself is refused; all else is kept as it is."""


class ExecutorTemplate(Part):
    """What is looked at in the executors' template."""

    KEEPS_UNKNOWN = True

    metadata: TemplateMetadata | None = None
    """Labels, annotations and the like of the pods. What StreamJob or Spark must decide itself is refused."""

    spec: ExecutorSpec | None = None
    """Spec of the pods. What StreamJob or Spark must decide itself is refused; all else is kept as it is."""
