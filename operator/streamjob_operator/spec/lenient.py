"""Objects that the API server has admitted: fields of a newer version than ours are left out, and named.

Whoever writes a file is told of an unknown field as of any mistake; what is stored already was right to somebody, and
during an upgrade the definitions come before the operator. A new VALUE of a field that we know is still a mistake.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError
from pydantic_core import to_json

M = TypeVar("M", bound=BaseModel)
_UNKNOWN = "extra_forbidden"


def read_known(kind: type[M], document: Mapping[str, Any]) -> tuple[M, tuple[str, ...]]:
    """The object, and the paths of the fields that were left out; raises ValidationError for any other mistake."""
    try:
        return _read(kind, document), ()
    except ValidationError as error:
        unknown = [one["loc"] for one in error.errors() if one["type"] == _UNKNOWN]
        if not unknown:
            raise
    known = copy.deepcopy(dict(document))
    for path in unknown:
        _drop(known, path)
    return _read(kind, known), tuple(sorted(_named(path) for path in unknown))


def _read(kind: type[M], document: Mapping[str, Any]) -> M:
    # Through JSON, because pydantic's strict mode then takes text for enums and lists for tuples.
    return kind.model_validate_json(to_json(document))


def _drop(document: Any, path: Sequence[int | str]) -> None:
    for step in path[:-1]:
        document = document[step]
    del document[path[-1]]


def _named(path: Sequence[int | str]) -> str:
    return "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in path).removeprefix(".")
