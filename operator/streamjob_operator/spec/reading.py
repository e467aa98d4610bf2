"""From a file to a StreamJob, or to the sentences that say what is wrong with it."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import yaml
from pydantic import ValidationError

from streamjob_operator.spec.job import StreamJob
from streamjob_operator.spec.sentences import sentences


class SpecError(ValueError):
    """A StreamJob that cannot be used; `sentences` say why, one per mistake."""

    def __init__(self, mistakes: tuple[str, ...]) -> None:
        super().__init__("\n".join(mistakes))
        self.sentences = mistakes


class _Loader(yaml.SafeLoader):
    """YAML 1.2 booleans (so that `mode: Off` is text), and no field twice."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        seen: set[Any] = set()
        for key_node, _ in node.value:
            key = self.construct_object(key_node, deep=True)
            if key in seen:
                line = key_node.start_mark.line + 1
                raise SpecError((f"{key}: written twice (again in line {line}); each field may appear once.",))
            seen.add(key)
        return super().construct_mapping(node, deep=deep)


_BOOL, _TIME = "tag:yaml.org,2002:bool", "tag:yaml.org,2002:timestamp"
_Loader.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in resolvers if tag not in (_BOOL, _TIME)]
    for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
}
_Loader.add_implicit_resolver(_BOOL, re.compile(r"true|True|TRUE|false|False|FALSE"), list("tTfF"))


def read_job(path: Path) -> StreamJob:
    """The StreamJob in a YAML or JSON file; raises SpecError."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise SpecError((f"{path}: cannot be read: {error}.",)) from error
    return parse_job(text)


def parse_job(text: str) -> StreamJob:
    """The StreamJob in YAML or JSON text; raises SpecError."""
    try:
        document = yaml.load(text, _Loader)
    except yaml.YAMLError as error:
        raise SpecError((_not_yaml(error),)) from error
    if not isinstance(document, dict):
        raise SpecError((f"StreamJob: {type(document).__name__} given; a map with apiVersion, kind ... is needed.",))
    try:
        # Through JSON, because pydantic's strict mode then takes text for enums and lists for tuples, and nothing else.
        return StreamJob.model_validate_json(json.dumps(document, default=str))
    except ValidationError as error:
        raise SpecError(sentences(error, StreamJob)) from error


def _not_yaml(error: yaml.YAMLError) -> str:
    mark, problem = getattr(error, "problem_mark", None), getattr(error, "problem", None)
    if mark is None:
        return f"This is not YAML: {' '.join(str(error).split())}."
    return f"This is not YAML: line {mark.line + 1}, column {mark.column + 1}: {problem or 'not understood'}."
