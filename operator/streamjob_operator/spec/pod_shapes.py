"""What a pod template must be for pods to be made of it: maps where Kubernetes has maps, lists of maps where lists.

The CRD sees to it for what is applied now. Nobody else does for a file that `streamjob validate` reads, nor for what
was stored before.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from streamjob_operator.spec.sentences import Mistake, shown

_MAPS = ("metadata", "spec")
_ENTRIES = {"containers": "name", "initContainers": "name", "volumes": "name", "imagePullSecrets": "name"}
"""Lists of a pod that are laid over each other, and the field that tells their entries apart."""
_IN_CONTAINERS = {"env": "name", "volumeMounts": "mountPath", "ports": "containerPort"}
_TEXTS = ("serviceAccountName",)
_KEYS = (str, int)


def shape_mistakes(template: Mapping[str, Any]) -> Iterator[Mistake]:
    """A sentence for each part that is of another kind; paths are within the template. Null is nothing."""
    for name in _MAPS:
        if not isinstance(template.get(name) or {}, Mapping):
            yield Mistake(name, f"{shown(template[name])} given; a map of fields is needed")
    metadata, spec = (fields_of(template.get(name)) for name in _MAPS)
    for name in ("labels", "annotations"):
        if not isinstance(metadata.get(name) or {}, Mapping):
            yield Mistake(f"metadata.{name}", f"{shown(metadata[name])} given; a map is needed")
    for name in _TEXTS:
        if not isinstance(spec.get(name) or "", str):
            yield Mistake(f"spec.{name}", f"{shown(spec[name])} given; text is needed")
    yield from _lists(spec, {**_ENTRIES, "tolerations": "key"}, "spec")
    for name in ("containers", "initContainers"):
        for at, one in enumerate(entries_of(spec.get(name))):
            yield from _lists(fields_of(one), _IN_CONTAINERS, f"spec.{name}[{at}]")


def _lists(fields: Mapping[str, Any], keys: Mapping[str, str], where: str) -> Iterator[Mistake]:
    for name, key in keys.items():
        given = fields.get(name)
        if given is not None and not isinstance(given, list):
            yield Mistake(f"{where}.{name}", f"{shown(given)} given; a list is needed")
        for at, one in enumerate(entries_of(given)):
            if not isinstance(one, Mapping):
                yield Mistake(f"{where}.{name}[{at}]", f"{shown(one)} given; a map of fields is needed")
            elif one.get(key) is not None and not isinstance(one[key], _KEYS):
                yield Mistake(f"{where}.{name}[{at}].{key}", f"{shown(one[key])} given; text or a number is needed")


def fields_of(value: Any) -> Mapping[str, Any]:
    """The map; an empty one where it is none."""
    return value if isinstance(value, Mapping) else {}


def entries_of(value: Any) -> list[Any]:
    """The list; an empty one where it is none."""
    return value if isinstance(value, list) else []
