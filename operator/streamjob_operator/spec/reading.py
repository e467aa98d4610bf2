"""From a file to a StreamJob, or to the sentences that say what is wrong with it."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import yaml
from pydantic import BaseModel, ValidationError

from streamjob_operator.spec.bounded_yaml import LARGEST, BoundedLoader, OutOfBounds, too_large
from streamjob_operator.spec.job import StreamJob
from streamjob_operator.spec.sentences import sentences

M = TypeVar("M", bound=BaseModel)
T = TypeVar("T")


class SpecError(ValueError):
    """A StreamJob that cannot be used; `sentences` say why, one per mistake."""

    def __init__(self, mistakes: tuple[str, ...]) -> None:
        super().__init__("\n".join(mistakes))
        self.sentences = mistakes


class PlainLoader(BoundedLoader):
    """No field twice. Dates and 12:30, which are numbers of base 60 for YAML 1.1, are text, as they are for kubectl."""

    def __init__(self, stream: str) -> None:
        super().__init__(stream)
        self._looked_at: set[yaml.MappingNode] = set()

    def flatten_mapping(self, node: yaml.MappingNode) -> None:
        """A map's own fields are looked at once, before those that `<<` brings stand beside them."""
        if node not in self._looked_at:
            self._looked_at.add(node)
            self._look_at(node)
        super().flatten_mapping(node)

    def _look_at(self, node: yaml.MappingNode) -> None:
        seen: set[Any] = set()
        for key_node in (key_node for key_node, _ in node.value if key_node.tag != _MERGE):
            key, line = self.construct_object(key_node, deep=True), key_node.start_mark.line + 1
            if not isinstance(key, _NAMES):
                what = "a map or a list" if isinstance(key, dict | list) else type(key).__name__
                raise SpecError((f"Line {line}: {what} cannot be a field's name; one word is needed.",))
            if key in seen:
                raise SpecError((f"{key}: written twice (again in line {line}); each field may appear once.",))
            seen.add(key)


class _Loader(PlainLoader):
    """YAML 1.2 booleans, so that `mode: Off` is text."""


_BOOL, _TIME, _STR = "tag:yaml.org,2002:bool", "tag:yaml.org,2002:timestamp", "tag:yaml.org,2002:str"
_MERGE = "tag:yaml.org,2002:merge"
_NAMES = (str, int, float, type(None))
"""What may be a field's name: JSON makes text of each."""
_BASE_60 = re.compile(r"[-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+(?:\.[0-9_]*)?$")
_DIGITS = "-+0123456789"
_TOO_DEEP = "This is nested too deeply: maps and lists may be some hundred levels deep."
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
    """A file's text, of at most LARGEST bytes; raises SpecError."""
    try:
        with path.open("rb") as file:
            found = file.read(LARGEST + 1)  # no more: it may be a device, which has no end
        if len(found) > LARGEST:
            raise SpecError((too_large(str(path)),))
        return found.decode("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise SpecError((unreadable(path, error),)) from error


def unreadable(path: Path, error: OSError | UnicodeDecodeError) -> str:
    """Why a file gave no text, as a sentence."""
    if isinstance(error, UnicodeDecodeError):
        return f"{path}: cannot be read: it is no text in UTF-8, from byte {error.start} on."
    return f"{path}: cannot be read: {error.strerror or error}."


def parse_as(kind: type[M], text: str, first_fields: str) -> M:
    """YAML or JSON text as an object of any of our kinds; raises SpecError."""
    document = from_yaml(lambda: yaml.load(text, _Loader))
    if not isinstance(document, dict):
        given = "nothing" if document is None else type(document).__name__
        raise SpecError((f"{kind.__name__}: {given} given; a map with {first_fields} ... is needed.",))
    try:
        # Through JSON, because pydantic's strict mode then takes text for enums and lists for tuples, and nothing else.
        return kind.model_validate_json(as_json(document))
    except ValidationError as error:
        levels = error.errors()[0]["type"] == "json_invalid"  # all that may be wrong with what `as_json` gave
        raise SpecError((_TOO_DEEP,) if levels else sentences(error, kind)) from error


def as_json(document: object) -> str:
    """What YAML gave as JSON; raises SpecError for what JSON cannot say."""
    try:
        text = json.dumps(document, default=str)
        if "\\ud" in text:
            json.dumps(json.loads(text), ensure_ascii=False).encode()
        return text
    except RecursionError as error:
        raise SpecError((_TOO_DEEP,)) from error
    except UnicodeEncodeError as error:
        raise SpecError(("This cannot be read: one of its texts has half of a character, such as \\ud800.",)) from error
    except ValueError as error:
        raise SpecError(("This cannot be read: a map or a list is a part of itself, by an anchor.",)) from error


def from_yaml(load: Callable[[], T]) -> T:
    """What `load` reads from YAML or JSON; raises SpecError for whatever the reader chokes on."""
    try:
        return load()
    except SpecError:
        raise
    except OutOfBounds as error:
        raise SpecError((str(error),)) from error
    except yaml.YAMLError as error:
        raise SpecError((_not_yaml(error),)) from error
    except RecursionError as error:
        raise SpecError((_TOO_DEEP,)) from error
    except (ValueError, OverflowError) as error:  # such as "\U00110000", which is no character
        raise SpecError((f"This cannot be read: {error}.",)) from error


def _not_yaml(error: yaml.YAMLError) -> str:
    mark, problem = getattr(error, "problem_mark", None), getattr(error, "problem", None)
    if mark is None:
        return f"This is not YAML: {' '.join(str(error).split())}."
    return f"This is not YAML: line {mark.line + 1}, column {mark.column + 1}: {problem or 'not understood'}."
