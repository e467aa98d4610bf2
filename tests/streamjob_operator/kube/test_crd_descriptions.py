"""`kubectl explain` says what a field takes: its default and its bounds are in its description, in the same words."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest
from test_crd_files import fields, schema_of

from streamjob_operator.kube.crd.definitions import partition_map, stream_job
from streamjob_operator.kube.crd.schema import LONGEST_QUANTITY

Schema = dict[str, Any]
LIMIT = re.compile(r"(at least|more than|at most) (\S+) is allowed")
ABSENT = re.compile(r"[Dd]efault|Exactly one of|[Rr]equired|Needed on Kubernetes|Absent")


def inputs() -> Iterator[Any]:
    """Every field that somebody writes, but for objects, whose fields speak for themselves."""
    for kind, definition in (("sj", stream_job()), ("pm", partition_map())):
        for path, field in fields(schema_of(definition)):
            if path.startswith(".spec.") and "properties" not in field:
                yield pytest.param(field, id=kind + path)


def bounds_of(field: Schema) -> tuple[str, str, bool]:
    """Least and most as a person writes them, "" for none; and whether the least itself is not allowed."""
    rules = [rule["message"] for rule in field.get("x-kubernetes-validations", ())]
    limits = {words: limit for rule in rules for words, limit in LIMIT.findall(rule)}
    if "minimum" in field:
        limits["more than" if field.get("exclusiveMinimum") else "at least"] = f"{field['minimum']:.12g}"
    if "maximum" in field:
        limits["at most"] = f"{field['maximum']:.12g}"
    return limits.get("at least") or limits.get("more than", ""), limits.get("at most", ""), "more than" in limits


def phrase(field: Schema) -> str:
    """How a description tells bounds."""
    least, most, exclusive = bounds_of(field)
    if least and most:
        return f"above {least}, up to {most}" if exclusive else f"range {least} to {most}"
    return f"at least {least}" if least else ""


def says(field: Schema, words: str) -> bool:
    """Whether the description has the words, not as a part of a longer word or number."""
    found = re.search(rf"\b{re.escape(words)}(?![\w%])(?!\.\d)", field["description"], re.IGNORECASE)
    return found is not None


@pytest.mark.parametrize("field", tuple(inputs()))
def test_a_default_is_said(field: Schema) -> None:
    default = field.get("default")
    if default is None:
        assert ABSENT.search(field["description"]), "neither required nor with words about what its absence means"
    elif default in ([], {}):
        assert re.search(r"Default: (none|empty|nothing)\b", field["description"])
    else:
        written = str(default).lower() if isinstance(default, bool) else default
        number = isinstance(written, int | float)
        assert says(field, f"default {written:g}" if number else f"default {written}"), written


@pytest.mark.parametrize("field", tuple(inputs()))
def test_bounds_are_said(field: Schema) -> None:
    assert says(field, phrase(field)), phrase(field)
    if "maxItems" in field:
        assert says(field, f"at most {field['maxItems']}")
    if field.get("minItems") == 1:
        assert says(field, "at least one")
    if "maxLength" in field and "x-kubernetes-validations" not in field:
        assert says(field, f"at most {field['maxLength']} characters")


def test_the_words_are_found_where_they_are_and_only_there() -> None:
    field = {"description": "Slots. Default 1, range 1 to 256.", "minimum": 1, "maximum": 256}
    assert says(field, phrase(field))
    assert not says(field, "range 1 to 25")
    assert not says(field, "default 11")
    assert phrase({"minimum": 0, "exclusiveMinimum": True, "maximum": 1000}) == "above 0, up to 1000"
    rules = ["at least 100ms is allowed", "at most 1h is allowed"]
    duration = {"maxLength": LONGEST_QUANTITY, "x-kubernetes-validations": [{"message": one} for one in rules]}
    assert phrase(duration) == "range 100ms to 1h"
