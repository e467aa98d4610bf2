"""From a file to a StreamJob, or to the sentences that say what is wrong with it."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Hashable
from pathlib import Path
from typing import Any, TypeVar

import yaml
from pydantic import BaseModel, ValidationError

from streamjob_operator.spec.job import StreamJob
from streamjob_operator.spec.sentences import sentences

M = TypeVar("M", bound=BaseModel)
T = TypeVar("T")


class SpecError(ValueError):
    """A StreamJob that cannot be used; `sentences` say why, one per mistake."""

    def __init__(self, mistakes: tuple[str, ...]) -> None:
        super().__init__("\n".join(mistakes))
        self.sentences = mistakes


class PlainLoader(yaml.SafeLoader):
    """Dates and 12:30, which are numbers of base 60 for YAML 1.1, are text, as they are for kubectl."""


class _Loader(PlainLoader):
    """YAML 1.2 booleans (so that `mode: Off` is text), and no field twice."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        seen: set[Any] = set()
        for key_node, _ in node.value:
            key = self.construct_object(key_node, deep=True)
            if not isinstance(key, Hashable):
                line = key_node.start_mark.line + 1
                raise SpecError((f"Line {line}: a map or a list cannot be a field's name; one word is needed.",))
            if key in seen:
                line = key_node.start_mark.line + 1
                raise SpecError((f"{key}: written twice (again in line {line}); each field may appear once.",))
            seen.add(key)
        return super().construct_mapping(node, deep=deep)


_BOOL, _TIME, _STR = "tag:yaml.org,2002:bool", "tag:yaml.org,2002:timestamp", "tag:yaml.org,2002:str"
_BASE_60 = re.compile(r"[-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+(?:\.[0-9_]*)?$")
_DIGITS = "-+0123456789"
PlainLoader.yaml_implicit_resolvers = {
    first: [*([(_STR, _BASE_60)] if first in _DIGITS else []), *(one for one in resolvers if one[0] != _TIME)]
    for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
}
_Loader.yaml_implicit_resolvers = {
    first: [one for one in resolvers if one[0] != _BOOL]
    for first, resolvers in PlainLoader.yaml_implicit_resolvers.items()
}
# To the end: what merely begins like one is text.
_Loader.add_implicit_resolver(_BOOL, re.compile(r"(?:true|True|TRUE|false|False|FALSE)$"), list("tTfF"))


def read_job(path: Path) -> StreamJob:
    """The StreamJob in a YAML or JSON file; raises SpecError."""
    return parse_job(read_text(path))


def parse_job(text: str) -> StreamJob:
    """The StreamJob in YAML or JSON text; raises SpecError."""
    return parse_as(StreamJob, text, "apiVersion, kind")


def read_text(path: Path) -> str:
    """A file's text; raises SpecError."""
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise SpecError((f"{path}: cannot be read: {error}.",)) from error


def parse_as(kind: type[M], text: str, first_fields: str) -> M:
    """YAML or JSON text as an object of any of our kinds; raises SpecError."""
    document = from_yaml(lambda: yaml.load(text, _Loader))
    if not isinstance(document, dict):
        given = type(document).__name__
        raise SpecError((f"{kind.__name__}: {given} given; a map with {first_fields} ... is needed.",))
    try:
        # Through JSON, because pydantic's strict mode then takes text for enums and lists for tuples, and nothing else.
        return kind.model_validate_json(json.dumps(document, default=str))
    except ValidationError as error:
        raise SpecError(sentences(error, kind)) from error


def from_yaml(load: Callable[[], T]) -> T:
    """What `load` reads from YAML or JSON; raises SpecError for whatever the reader chokes on."""
    try:
        return load()
    except SpecError:
        raise
    except yaml.YAMLError as error:
        raise SpecError((_not_yaml(error),)) from error
    except RecursionError as error:
        raise SpecError(("This is nested too deeply: maps and lists may be some hundred levels deep.",)) from error
    except ValueError as error:  # a whole number of thousands of digits, a date that is none
        raise SpecError((f"This cannot be read: {error}.",)) from error


def _not_yaml(error: yaml.YAMLError) -> str:
    mark, problem = getattr(error, "problem_mark", None), getattr(error, "problem", None)
    if mark is None:
        return f"This is not YAML: {' '.join(str(error).split())}."
    return f"This is not YAML: line {mark.line + 1}, column {mark.column + 1}: {problem or 'not understood'}."
