"""The cycle's values as JSON and back, driven by their own type hints: what is stored is what was decided.

Arrays become lists, a sparse matrix its coordinates, an enum its value, a GroupId the text "operator/partition". Floats
keep every digit, so that a replay sees exactly what the cycle saw.
"""

from __future__ import annotations

import dataclasses
import enum
import functools
import json
import math
import types
import typing
from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

import numpy as np
from scipy import sparse

from streamjob_planners.model import GroupId

T = TypeVar("T")
Scalar = (bool, int, str, type(None))
MOST_ROWS = 1_000_000
"""Of a matrix, as many as there are key groups: far more than any job has."""
_MOST_DIGITS = 10
_WORDS = {bool: "true or false", int: "a whole number", float: "a finite number", str: "text"}
_FLOATS: dict[Any, frozenset[type]] = {float: frozenset((float,)), float | None: frozenset((float, type(None)))}
"""Kinds of entries that need no look at each, and the types that these have."""
_ARRAYS = {"b": "true and false", "i": "whole numbers", "f": "finite numbers"}


def encode(value: Any) -> Any:
    """Plain JSON values; raises TypeError on a type that no value of the cycle has, ValueError on a NaN or infinity."""
    if isinstance(value, enum.Enum):
        return value.value
    if isinstance(value, Scalar):
        return value
    if isinstance(value, float):
        return _finite(value)
    if isinstance(value, GroupId):
        return f"{value.operator}/{value.partition}"
    if dataclasses.is_dataclass(value) and not isinstance(value, Sequence):
        return {field.name: encode(getattr(value, field.name)) for field in dataclasses.fields(value)}
    return _encode_many(value)


def _encode_many(value: Any) -> Any:
    if isinstance(value, np.generic):  # a number that numpy made of one of ours
        return encode(value.item())
    if isinstance(value, np.ndarray):
        return [encode(item) for item in value.tolist()]
    if isinstance(value, sparse.csr_array):
        cells = value.tocoo()
        rows, columns = cells.coords
        return {"shape": list(value.shape), "at": [rows.tolist(), columns.tolist()], "values": encode(cells.data)}
    if isinstance(value, Mapping):
        return {str(key): encode(item) for key, item in value.items()}
    if isinstance(value, Sequence):
        return list(value) if _all_floats(value, _FLOATS[float | None]) else [encode(item) for item in value]
    raise TypeError(f"{type(value).__name__} is not a value of the cycle")


def _all_floats(values: Sequence[Any], kinds: frozenset[type]) -> bool:
    """Whether all are of these kinds, floats finite: such are the same as values and in a document, and most are."""
    return kinds.issuperset(map(type, values)) and all(one is None or math.isfinite(one) for one in values)


def _finite(value: float) -> float:
    if not math.isfinite(value):
        raise ValueError(f"{value} given, a finite number is needed")
    return value


class _Wrong(ValueError):
    """What is wrong, and at which place of the document: `at` grows from within."""

    def __init__(self, what: str) -> None:
        super().__init__(what)
        self.at = ""

    def within(self, place: str) -> _Wrong:
        self.at = place + self.at
        return self


def decode(kind: type[T], document: Any) -> T:
    """Inverse of :func:`encode` for a dataclass; a field that is missing takes its default, an unknown one is left out.

    Raises ValueError with the field, the value and what is needed where a value is not what :func:`encode` gives.
    """
    try:
        return typing.cast(T, _decode(kind, document))
    except _Wrong as wrong:
        raise ValueError(f"{wrong.at.lstrip('.') or kind.__name__}: {wrong}") from wrong


def _decode(kind: Any, document: Any) -> Any:
    # First, since nearly all of a document is plain: to ask of each number what parts its type has took as long again.
    if kind in _WORDS:
        return _decode_plain(kind, document)
    origin = typing.get_origin(kind)
    if origin in (types.UnionType, typing.Union):
        return _decode_optional(kind, document)
    if origin is np.ndarray:
        return _decode_array(_dtype(kind), document)
    if origin in (tuple, Sequence):
        items = typing.get_args(kind)
        return _decode_tuple((*items, ...) if origin is Sequence else items, document)
    if isinstance(origin, type) and issubclass(origin, Mapping):
        item = typing.get_args(kind)[1]
        return {key: _within(f".{key[:80]}", item, value) for key, value in _object(document).items()}
    return _decode_one(kind, document)


def _within(place: str, kind: Any, document: Any) -> Any:
    try:
        return _decode(kind, document)
    except _Wrong as wrong:
        raise wrong.within(place) from None


def _decode_one(kind: Any, document: Any) -> Any:
    if kind is Any:
        return document
    if kind is sparse.csr_array:
        return _decode_matrix(document)
    if kind is GroupId:
        return _group(document)
    if dataclasses.is_dataclass(kind):
        return _decode_fields(typing.cast(type, kind), _object(document))
    if isinstance(kind, type) and issubclass(kind, enum.Enum):
        known = {one.value: one for one in kind}
        if not isinstance(document, str) or document not in known:
            raise _needed(document, f"one of {', '.join(map(str, known))}")
        return known[document]
    return _decode_plain(kind, document)


def _decode_fields(kind: type, document: dict[str, Any]) -> Any:
    hints = _hints(kind)
    known = {name: _within(f".{name}", hints[name], value) for name, value in document.items() if name in hints}
    for field in dataclasses.fields(kind):
        if field.name not in known and field.default is field.default_factory is dataclasses.MISSING:
            raise _Wrong("this field is missing").within(f".{field.name}")
    try:
        return kind(**known)
    except ValueError as error:  # a value that judges its own fields
        raise _Wrong(str(error)) from error


def _decode_plain(kind: Any, document: Any) -> Any:
    """Text, a number, or true or false, as JSON has them: no one of them is read as another."""
    if kind is float:
        return _number(document)
    if kind is int and isinstance(document, float) and document.is_integer():
        return int(document)
    if type(document) is not kind:
        raise _needed(document, _WORDS[kind])
    return document


def _number(document: Any) -> float:
    try:
        number = float(document) if isinstance(document, int | float) and not isinstance(document, bool) else math.nan
    except OverflowError:
        number = math.inf
    if not math.isfinite(number):
        raise _needed(document, _WORDS[float])
    return number


def _group(document: Any) -> GroupId:
    operator, _, partition = document.partition("/") if isinstance(document, str) else ("", "", "")
    if not all(one.isascii() and one.isdecimal() and len(one) < _MOST_DIGITS for one in (operator, partition)):
        raise _needed(document, "OPERATOR/PARTITION, two whole numbers,")
    return GroupId(operator=int(operator), partition=int(partition))


def _decode_array(dtype: Any, document: Any) -> Any:
    """A list of numbers, or of lists of as many numbers."""
    if not isinstance(document, list):
        raise _needed(document, "a list")
    try:
        found = np.array(document)
        wanted = found.astype(dtype)
    except (ValueError, TypeError, OverflowError):
        raise _Wrong("a list of numbers, or of lists of equal length, is needed") from None
    if found.size and not (_alike(found.dtype, np.dtype(dtype)) and np.array_equal(found, wanted)):  # NaN is not equal
        raise _Wrong(f"{_ARRAYS[np.dtype(dtype).kind]} are needed, and nothing else")
    return wanted


def _alike(found: np.dtype[Any], wanted: np.dtype[Any]) -> bool:
    """Whether numbers of the one kind may stand for those of the other; of true and false only themselves may."""
    return found.kind in ("b" if wanted.kind == "b" else "iuf")


def _decode_matrix(document: Any) -> Any:
    """Coordinates and values; its shape is held against what it must be before memory is made for as many rows."""
    parts = _object(document)
    shape, at = parts.get("shape"), parts.get("at")
    if not (isinstance(shape, list) and len(shape) == 2 and all(type(one) is int for one in shape)):
        raise _needed(shape, "two whole numbers").within(".shape")
    if not all(0 <= one <= MOST_ROWS for one in shape):
        raise _needed(shape, f"rows and columns of at most {MOST_ROWS}").within(".shape")
    if not (isinstance(at, list) and len(at) == 2):
        raise _needed(at, "a list of rows and one of columns").within(".at")
    rows, columns = (_decode_array(np.int64, one) for one in at)
    values = _decode_array(np.float64, parts.get("values"))
    if not (rows.shape == columns.shape == values.shape and rows.ndim == 1 and bool(np.isfinite(values).all())):
        raise _Wrong("a row, a column and a finite number are needed for each cell")
    try:
        return sparse.csr_array((values, (rows, columns)), shape=tuple(shape))
    except ValueError as error:
        raise _Wrong(f"cells and shape do not fit: {error}") from None


def _decode_optional(kind: Any, document: Any) -> Any:
    if document is None:
        return None
    (some,) = (option for option in typing.get_args(kind) if option is not type(None))
    return _decode(some, document)


def _decode_tuple(items: tuple[Any, ...], document: Any) -> tuple[Any, ...]:
    if not isinstance(document, list):
        raise _needed(document, "a list")
    endless = items[1:] == (...,)
    if not endless and len(items) != len(document):
        raise _Wrong(f"{len(document)} entries given, {len(items)} are needed")
    if endless and _all_floats(document, _FLOATS.get(items[0], frozenset())):
        return tuple(document)
    kinds = (items[0] for _ in document) if endless else items
    return tuple(_within(f"[{at}]", item, value) for at, (item, value) in enumerate(zip(kinds, document, strict=True)))


def _object(document: Any) -> dict[str, Any]:
    if not isinstance(document, dict):
        raise _needed(document, "an object")
    return document


def _needed(document: Any, what: str) -> _Wrong:
    try:
        given = json.dumps(document)
    except (ValueError, RecursionError):  # a number of thousands of digits, an object without end
        given = "a value that cannot be shown"
    return _Wrong(f"{given if len(given) <= 80 else given[:77] + '...'} given, {what} is needed")


def _dtype(kind: Any) -> Any:
    (scalar,) = typing.get_args(typing.get_args(kind)[1])
    return scalar


@functools.cache
def _hints(kind: type) -> dict[str, Any]:
    return typing.get_type_hints(kind)
