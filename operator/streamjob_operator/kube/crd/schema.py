"""From a pydantic model to the structural schema of a CRD: types, bounds, defaults, descriptions, and CEL rules."""

from __future__ import annotations

import dataclasses
import enum
import types
import typing
from typing import Annotated, Any, Literal, Union, get_args, get_origin

import annotated_types as bounds
from pydantic import BaseModel
from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined

from streamjob_operator.kube.models.marks import ListKey, TimeText
from streamjob_operator.spec.base import Part
from streamjob_operator.spec.quantities import (
    DURATION_HINT,
    DURATION_PATTERN,
    SIZE_HINT,
    SIZE_PATTERN,
    DurationText,
    SizeText,
    format_duration,
    format_size,
)
from streamjob_operator.spec.rules import OneOf, Rule, Shape, matches, number, seconds, size_bytes, told

Schema = dict[str, Any]
LONGEST_QUANTITY = 32
"""Characters of a duration or size: the API server weighs a rule by the longest text that it may see."""
_SCALARS = {bool: "boolean", int: "integer", float: "number", str: "string"}


def model_schema(model: type[Part], about: str | None = None) -> Schema:
    """The schema of an object; `about` describes it, the model's own docstring otherwise."""
    fields = {str(field.alias): field for field in model.model_fields.values()}
    schema: Schema = {"type": "object", "description": one_line(about or model.__doc__)}
    if model.KEEPS_UNKNOWN:
        schema["x-kubernetes-preserve-unknown-fields"] = True
    required = [name for name, field in fields.items() if field.is_required()]
    if required:
        schema["required"] = required
    schema["properties"] = {name: field_schema(field) for name, field in fields.items()}
    return _with_rules(schema, model.RULES)


def field_schema(field: FieldInfo) -> Schema:
    """The schema of one field."""
    annotation, marks = _unwrapped(field.annotation, tuple(field.metadata))
    schema = _typed(annotation, marks, field.description)
    default = field.get_default(call_default_factory=True)
    if default is not None and default is not PydanticUndefined:
        schema["default"] = _as_written(default, marks)
        if type(None) in get_args(field.annotation):
            schema["nullable"] = True  # null is another wish than leaving the field out
    return schema


def one_line(text: str | None) -> str:
    """A docstring as running text."""
    return " ".join((text or "").split())


def _unwrapped(annotation: Any, marks: tuple[Any, ...]) -> tuple[Any, tuple[Any, ...]]:
    """The type without `Annotated` and `| None`, and all marks on it."""
    if get_origin(annotation) is Annotated:
        inner, *more = get_args(annotation)
        return _unwrapped(inner, (*marks, *more))
    if get_origin(annotation) in (Union, types.UnionType):
        (inner,) = (part for part in get_args(annotation) if part is not type(None))
        return _unwrapped(inner, marks)
    return annotation, marks


def _typed(annotation: Any, marks: tuple[Any, ...], about: str | None) -> Schema:
    if isinstance(annotation, type) and issubclass(annotation, Part):
        return model_schema(annotation, about)
    for shape in (mark for mark in marks if isinstance(mark, Shape)):
        return model_schema(shape.model, about)
    schema = {"description": one_line(about)} if about else {}
    if _has(marks, DurationText):
        return schema | _duration(marks)
    if _has(marks, SizeText):
        return schema | _size(marks)
    return _with_rules(schema | _plain(annotation) | _limits(annotation, marks), _rules(marks))


def _plain(annotation: Any) -> Schema:
    """Types without a unit."""
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin is Literal:
        return {"type": "string", "enum": list(arguments)}
    if isinstance(annotation, type) and issubclass(annotation, enum.Enum):
        return {"type": "string", "enum": [str(one.value) for one in annotation]}
    if origin is tuple:
        return {"type": "array", "items": _inner(arguments[0])}
    if origin is dict and arguments[1] is Any:
        return {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    if origin is dict:
        return {"type": "object", "additionalProperties": _inner(arguments[1])}
    return {"type": _SCALARS[typing.cast(type, annotation)]}


def _inner(annotation: Any) -> Schema:
    inner, marks = _unwrapped(annotation, ())
    return _typed(inner, marks, None)


def _limits(annotation: Any, marks: tuple[Any, ...]) -> Schema:
    kind = _plain(annotation)["type"]
    length = {"string": "Length", "array": "Items", "object": "Properties"}.get(kind)
    limits: Schema = {}
    for mark in marks:
        match mark:
            case bounds.Ge(ge=least) | bounds.Gt(gt=least):
                limits["minimum"] = least
                limits |= {"exclusiveMinimum": True} if isinstance(mark, bounds.Gt) else {}
            case bounds.Le(le=most):
                limits["maximum"] = most
            case bounds.MinLen(min_length=least):
                limits[f"min{length}"] = least
            case bounds.MaxLen(max_length=most):
                limits[f"max{length}"] = most
            case OneOf(choices=choices):
                limits["enum"] = list(choices)
            case ListKey(name=name):
                limits |= {"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": [name]}
            case TimeText():
                limits["format"] = "date-time"
    return limits


def _duration(marks: tuple[Any, ...]) -> Schema:
    schema = {"type": "string", "maxLength": LONGEST_QUANTITY}
    form = matches(DURATION_PATTERN, DURATION_HINT)
    # A text that is no duration gets the one sentence about its form, not those about its bounds as well.
    limits = (
        Rule(
            f"!({form.expression}) || {seconds('self')} {sign} {number(limit)}",
            f"{words} {format_duration(limit)} is allowed",
        )
        for sign, limit, words in _bounds(marks)
    )
    return _with_rules(schema, (form, *limits))


def _size(marks: tuple[Any, ...]) -> Schema:
    """Text such as 2Gi or a whole number, as Kubernetes takes quantities."""
    form = matches(SIZE_PATTERN, SIZE_HINT)
    limits = (
        Rule(
            f"type(self) == int ? double(self) {sign} {number(limit)} : "
            f"!({form.expression}) || {size_bytes('self')} {sign} {number(limit)}",
            f"{words} {format_size(limit)} is allowed",
        )
        for sign, limit, words in _bounds(marks)
    )
    form = _naming(dataclasses.replace(form, expression=f"type(self) == int || {form.expression}"))
    return _with_rules({"x-kubernetes-int-or-string": True, "maxLength": LONGEST_QUANTITY}, (*limits, form))


def _bounds(marks: tuple[Any, ...]) -> list[tuple[str, float, str]]:
    """Comparison, limit, and its words."""
    found: list[tuple[str, float, str]] = []
    for mark in marks:
        match mark:
            case bounds.Ge(ge=limit):
                found.append((">=", float(typing.cast(float, limit)), "at least"))
            case bounds.Gt(gt=limit):
                found.append((">", float(typing.cast(float, limit)), "more than"))
            case bounds.Le(le=limit):
                found.append(("<=", float(typing.cast(float, limit)), "at most"))
    return found


def _rules(marks: tuple[Any, ...]) -> tuple[Rule, ...]:
    return tuple(mark for mark in marks if isinstance(mark, Rule))


def _with_rules(schema: Schema, rules: tuple[Rule, ...]) -> Schema:
    if not rules:
        return schema
    # Of a text that breaks a rule the API server prints only its type: its value is put into the message.
    named = schema.get("type") == "string"
    return schema | {"x-kubernetes-validations": [_rule(_naming(rule) if named else rule) for rule in rules]}


def _naming(rule: Rule) -> Rule:
    return dataclasses.replace(rule, told=told(f"'%s' given; {rule.message}", "self"))


def _rule(rule: Rule) -> Schema:
    written = {"rule": rule.expression, "message": rule.message, "messageExpression": rule.told, "fieldPath": rule.path}
    return {name: text for name, text in written.items() if text}


def _has(marks: tuple[Any, ...], kind: type) -> bool:
    return any(isinstance(mark, kind) for mark in marks)


def _as_written(value: Any, marks: tuple[Any, ...]) -> Any:
    """A default as a user would write it; an object's own fields have their defaults in their own schema."""
    if isinstance(value, BaseModel | dict):
        return {}
    if isinstance(value, tuple):
        return list(value)
    if isinstance(value, enum.Enum):
        return value.value
    if _has(marks, DurationText):
        return format_duration(value)
    return format_size(value) if _has(marks, SizeText) else value
