"""Errors as sentences: the field, the value, what is allowed, and what was probably meant."""

from __future__ import annotations

import dataclasses
import difflib
import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, get_args

from pydantic import BaseModel, ValidationError
from pydantic.fields import FieldInfo
from pydantic_core import ErrorDetails

from streamjob_operator.spec.quantities import DurationText, SizeText, format_duration, format_size

_NEEDED = {
    "int_type": "a whole number is needed",
    "int_from_float": "a whole number is needed",
    "float_type": "a number is needed",
    "finite_number": "a finite number is needed",
    "bool_type": "true or false is needed",
    "string_type": 'text is needed (put it in quotes: "{value}")',
    "string_too_short": "text that is not empty is needed",
    "string_too_long": "text of at most {max_length} characters is needed",
    "too_short": "at least {entries} needed",
    "too_long": "at most {max_length} entries are allowed",
    "tuple_type": "a list is needed",
    "list_type": "a list is needed",
    "dict_type": "a map is needed",
    "model_type": "a map of fields is needed",
}
_BOUNDS = {"greater_than_equal": "at least", "greater_than": "more than", "less_than_equal": "at most"}


@dataclasses.dataclass(frozen=True, slots=True)
class Mistake:
    """One of several mistakes in an object whose fields are the user's: where in it, and what is wrong there."""

    path: str
    said: str


class Mistakes(ValueError):
    """What a validator of such an object raises; each mistake becomes a sentence."""

    def __init__(self, found: Iterable[Mistake]) -> None:
        self.found = tuple(found)
        super().__init__("; ".join(f"{one.path}: {one.said}" for one in self.found))


def sentences(error: ValidationError, root: type[BaseModel]) -> tuple[str, ...]:
    """One sentence for each mistake, in the order of the fields."""
    details = error.errors()
    wrong = [detail["loc"] for detail in details if detail["type"] != "too_short"]
    inner = {loc[:depth] for loc in wrong for depth in range(len(loc))}
    # A list whose only entry has a mistake, however deep, is reported as too short as well: one mistake, one sentence.
    told = (one for one in details if one["type"] != "too_short" or one["loc"] not in inner)
    return tuple(sentence for one in told for sentence in _told(one, root))


def shown(value: object) -> str:
    """A value as sentences show it: texts in quotes, of lists and maps that they are there."""
    return _shown(value, None)


def _told(detail: ErrorDetails, root: type[BaseModel]) -> Iterator[str]:
    error = detail.get("ctx", {}).get("error")
    if isinstance(error, Mistakes):
        yield from (f"{_path(detail['loc'])}.{one.path}: {one.said}." for one in error.found)
    else:
        yield _sentence(detail, root)


def _sentence(detail: ErrorDetails, root: type[BaseModel]) -> str:
    path = _path(detail["loc"])
    model, field = _find(root, detail["loc"])
    kind = detail["type"]
    if kind == "extra_forbidden":
        names = _names(model)
        meant = _meant(str(detail["loc"][-1]), names) or f"; allowed here: {', '.join(names)}"
        return f"{path}: there is no such field{meant}."
    if kind == "missing":
        return f"{path}: missing; {_lower(_about(field))}"
    needed = _what_is_needed(detail, field)
    if isinstance(detail["input"], (Mapping, list)) and kind == "value_error":
        return f"{path or root.__name__}: {needed}."
    return f"{path or root.__name__}: {_shown(detail['input'], field)} given; {needed}."


def _what_is_needed(detail: ErrorDetails, field: FieldInfo | None) -> str:
    kind, context, value = detail["type"], detail.get("ctx", {}), detail["input"]
    if kind == "value_error":
        return str(context["error"]) + _meant_of(str(context["error"]), value)
    if kind in _BOUNDS:
        (bound,) = (context[name] for name in ("ge", "gt", "le") if name in context)
        return f"{_BOUNDS[kind]} {_in_unit(bound, field)} is allowed"
    if kind in ("enum", "literal_error"):
        choices = [choice.strip("'") for choice in context["expected"].replace(" or ", ", ").split(", ")]
        if len(choices) == 1:
            return f"only {choices[0]} is allowed"
        return f"choose one of {', '.join(choices)}{_meant(str(value), choices)}"
    least = context.get("min_length", 1)
    entries = "one entry is" if least == 1 else f"{least} entries are"
    return _NEEDED.get(kind, detail["msg"].lower()).format(value=value, entries=entries, **context)


def _in_unit(bound: float, field: FieldInfo | None) -> str:
    marks = () if field is None else (*field.metadata, *_nested_marks(field.annotation))
    if any(isinstance(mark, DurationText) for mark in marks):
        return format_duration(float(bound))
    if any(isinstance(mark, SizeText) for mark in marks):
        return format_size(float(bound))
    return f"{bound:.12g}"


def _nested_marks(annotation: Any) -> Iterable[Any]:
    """Marks inside a union such as `Duration | None`."""
    for part in get_args(annotation):
        yield from getattr(part, "__metadata__", ())


def _find(root: type[BaseModel], loc: tuple[int | str, ...]) -> tuple[type[BaseModel], FieldInfo | None]:
    """The model that the path's last name belongs to, and that field where there is one."""
    model, field = root, None
    for step in loc:
        field = next((one for one in model.model_fields.values() if one.alias == step), None)
        inner = None if field is None else _model_in(field.annotation)
        if step == loc[-1] or (field is None and isinstance(step, str)):
            break
        model = inner or model
    return model, field


def _model_in(annotation: Any) -> type[BaseModel] | None:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    return next((found for part in get_args(annotation) if (found := _model_in(part))), None)


def _names(model: type[BaseModel]) -> list[str]:
    return [str(field.alias) for field in model.model_fields.values()]


def _meant(given: str, choices: list[str]) -> str:
    by_lower = {choice.lower(): choice for choice in choices}
    close = difflib.get_close_matches(given.lower(), by_lower, n=1, cutoff=0.6)
    return f"; did you mean {by_lower[close[0]]}" if close else ""


def _meant_of(message: str, value: object) -> str:
    prefix = "choose one of "
    if not message.startswith(prefix) or not isinstance(value, str):
        return ""
    return _meant(value, message.removeprefix(prefix).split(", "))


def _path(loc: tuple[int | str, ...]) -> str:
    text = ""
    for step in loc:
        text += f"[{step}]" if isinstance(step, int) else f".{step}"
    return text.removeprefix(".")


def _about(field: FieldInfo | None) -> str:
    return "it is required." if field is None or not field.description else " ".join(field.description.split())


def _lower(text: str) -> str:
    return text[:1].lower() + text[1:]


def _shown(value: object, field: FieldInfo | None) -> str:
    if isinstance(value, float):  # a duration or size is a number of seconds or bytes by now
        return _in_unit(value, field)
    if isinstance(value, (Mapping, list)):
        return "a map" if isinstance(value, Mapping) else "a list"
    return f"'{value}'" if isinstance(value, str) else json.dumps(value, default=str)
