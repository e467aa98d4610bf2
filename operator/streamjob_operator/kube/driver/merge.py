"""Pod templates laid over each other, as `kubectl patch` does it for the lists that matter in a pod. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

_KEYS = {
    "containers": "name",
    "initContainers": "name",
    "volumes": "name",
    "env": "name",
    "volumeMounts": "mountPath",
    "ports": "containerPort",
    "imagePullSecrets": "name",
}
"""Lists whose entries are told apart by a field; any other list replaces the one below it."""
_WHOLE = frozenset(("env", "volumes"))
"""Of these, an entry replaces the one below it: a variable has a value or a source, a volume one source, never two."""


def overlay(below: Any, above: Any, name: str = "") -> Any:
    """`above` over `below`: objects field by field, the lists of _KEYS entry by entry, anything else replaced.

    In a list of _KEYS entries keep their place, and new ones follow; neither argument is changed. Null is nothing, as
    Kubernetes reads it in a pod.
    """
    if above is None:
        return below
    if isinstance(below, Mapping) and isinstance(above, Mapping):
        return {
            key: overlay(below[key], above[key], key)
            if key in below and key in above
            else above.get(key, below.get(key))
            for key in dict.fromkeys([*below, *above])
        }
    if name in _KEYS and _listed(below) and _listed(above):
        return _entries(below, above, _KEYS[name], name in _WHOLE)
    return above


def _listed(value: Any) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, str)


def _entries(below: Sequence[Any], above: Sequence[Any], key: str, whole: bool) -> list[Any]:
    merged = {one.get(key): one for one in below}
    for one in above:
        known = merged.get(one.get(key))
        merged[one.get(key)] = one if known is None or whole else overlay(known, one)
    return list(merged.values())


def with_main_first(template: Mapping[str, Any], name: str) -> dict[str, Any]:
    """The template with our container first, under `name`.

    Ours is the one of that name, else the first one, as Spark takes it; a template without containers gets one.
    """
    spec = dict(template.get("spec") or {})
    containers = [dict(one) for one in spec.get("containers") or [{}]]
    main = next((one for one in containers if one.get("name") == name), containers[0])
    others = [one for one in containers if one is not main]
    spec["containers"] = [{**main, "name": name}, *others]
    return {**template, "spec": spec}
