"""The StreamJob that is being written, and the table's rows by which each field of a source finds its place."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from typing import Any

from streamjob_operator.spec import SpecError
from streamjob_operator.spec.sentences import shown
from streamjob_operator.unsteered import one_line

Map = dict[str, Any]
UNFIT = (ArithmeticError, AttributeError, KeyError, TypeError, ValueError)
"""What a value of another kind than it is defined to be does to whoever reads it."""
UNFIT_WORDS = "does not fit its own definition, the API server would refuse it"
ROLES = ("driver", "executor")


class Draft:
    """A StreamJob's spec in the making. `notes`: sentences about what was left out, or reads differently now."""

    def __init__(self) -> None:
        self.spec: Map = {"application": {}, "executors": {}}
        self.notes: list[str] = []

    @property
    def application(self) -> Map:
        """spec.application."""
        found: Map = self.spec["application"]
        return found

    @property
    def executors(self) -> Map:
        """spec.executors."""
        found: Map = self.spec["executors"]
        return found

    def under(self, *names: str) -> Map:
        """The object at a path below spec.application, made where it is not there."""
        place = self.application
        for name in names:
            place = place.setdefault(name, {})
        return place

    def template(self, role: str, *names: str) -> Map:
        """The object at a path below a role's pod template."""
        return self.under(role, "podTemplate", *names)

    def container(self, role: str) -> Map:
        """The role's own container in its pod template."""
        containers = self.template(role, "spec").setdefault("containers", [{"name": role}])
        found: Map = containers[0]
        return found

    def conf(self, key: str, value: object) -> None:
        """One Spark setting; one that is there already stays."""
        text = str(value).lower() if isinstance(value, bool) else str(value)
        kept = self.under("sparkConf").setdefault(key, text)
        if kept != text:
            self.note(f"sparkConf: {key} is '{kept}' already, so '{text}' was left out.")

    def note(self, sentence: str) -> None:
        """Once each, in the order in which they come; a comment of YAML takes no character that steers a terminal."""
        told = one_line(sentence)
        if told not in self.notes:
            self.notes.append(told)


Put = Callable[[Draft, str, Any], None]
"""Writes the value of the field at that path into the draft."""


@dataclasses.dataclass(frozen=True, slots=True)
class Way:
    """One row: fields of the source, how a StreamJob says the same, and what `streamjob import` does about it.

    Without `put` the fields are left out and `way` is told.
    """

    fields: tuple[str, ...]
    way: str
    put: Put | None = None

    def carry(self, source: Mapping[str, Any], draft: Draft) -> None:
        """Carry what the source says of these fields into the draft, or say why not."""
        given = {path: value for path in self.fields if (value := lookup(source, path)) not in (None, {}, [])}
        for path, value in given.items() if self.put is not None else ():
            if self.put is not None:
                _put(self.put, draft, path, value)
        if given and self.put is None:
            draft.note(f"{', '.join(given)}: {self.way.replace('`', '')}")


def _put(put: Put, draft: Draft, path: str, value: Any) -> None:
    try:
        put(draft, path, value)
    except UNFIT as error:
        raise SpecError((f"spec.{path}: {shown(value)} given, which {UNFIT_WORDS}.",)) from error


def lookup(source: Any, path: str) -> Any:
    """The value at a path; of a list's entries, the first that has one. None where there is none."""
    if isinstance(source, list):
        return next((found for one in source if (found := lookup(one, path)) is not None), None)
    if not isinstance(source, Mapping):
        return None
    name, _, rest = path.partition(".")
    return lookup(source.get(name), rest) if rest else source.get(name)


def unknown(source: Mapping[str, Any], ways: tuple[Way, ...]) -> list[str]:
    """Paths that the source says and no row knows."""
    known = {path for way in ways for path in way.fields}
    parents = {path[:end] for path in known for end, letter in enumerate(path) if letter == "."}
    return sorted(_strangers(source, "", known, parents))


def _strangers(source: Any, prefix: str, known: set[str], parents: set[str]) -> set[str]:
    found: set[str] = set()
    for one in source if isinstance(source, list) else [source]:
        for name, value in one.items() if isinstance(one, Mapping) else ():
            path = f"{prefix}{name}"
            if path in parents:
                found |= _strangers(value, f"{path}.", known, parents)
            elif path not in known:
                found.add(path)
    return found
