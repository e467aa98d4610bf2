"""The cycle's values as JSON and back, driven by their own type hints: what is stored is what was decided.

Arrays become lists, a sparse matrix its coordinates, an enum its value, a GroupId the text "operator/partition". Floats
keep every digit, so that a replay sees exactly what the cycle saw.
"""

from __future__ import annotations

import dataclasses
import enum
import functools
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
        return [encode(item) for item in value]
    raise TypeError(f"{type(value).__name__} is not a value of the cycle")


def _finite(value: float) -> float:
    if not math.isfinite(value):
        raise ValueError(f"{value} given, a finite number is needed")
    return value


def decode(kind: type[T], document: Any) -> T:
    """Inverse of :func:`encode` for a dataclass; a field that is missing takes its default, an unknown one is left out.

    Raises ValueError when a needed field is missing or a value has the wrong form.
    """
    try:
        return typing.cast(T, _decode(kind, document))
    except (TypeError, KeyError, AttributeError, IndexError) as error:
        raise ValueError(f"{kind.__name__}: {error}") from error


def _decode(kind: Any, document: Any) -> Any:
    origin = typing.get_origin(kind)
    if origin in (types.UnionType, typing.Union):
        return _decode_optional(kind, document)
    if origin is np.ndarray:
        return np.array(document, dtype=_dtype(kind))
    if kind is sparse.csr_array:
        rows, columns = document["at"]
        return sparse.csr_array((document["values"], (rows, columns)), shape=tuple(document["shape"]))
    if origin in (tuple, Sequence):
        items = typing.get_args(kind)
        return _decode_tuple((*items, ...) if origin is Sequence else items, document)
    if isinstance(origin, type) and issubclass(origin, Mapping):
        item = typing.get_args(kind)[1]
        return {key: _decode(item, value) for key, value in document.items()}
    return _decode_one(kind, document)


def _decode_one(kind: Any, document: Any) -> Any:
    if kind is Any:
        return document
    if kind is GroupId:
        operator, partition = document.split("/")
        return GroupId(operator=int(operator), partition=int(partition))
    if dataclasses.is_dataclass(kind):
        hints = _hints(typing.cast(type, kind))
        known = {name: _decode(hints[name], value) for name, value in document.items() if name in hints}
        return typing.cast(type, kind)(**known)
    return kind(document)


def _decode_optional(kind: Any, document: Any) -> Any:
    if document is None:
        return None
    (some,) = (option for option in typing.get_args(kind) if option is not type(None))
    return _decode(some, document)


def _decode_tuple(items: tuple[Any, ...], document: Any) -> tuple[Any, ...]:
    if items[1:] == (...,):
        return tuple(_decode(items[0], value) for value in document)
    return tuple(_decode(item, value) for item, value in zip(items, document, strict=True))


def _dtype(kind: Any) -> Any:
    (scalar,) = typing.get_args(typing.get_args(kind)[1])
    return scalar


@functools.cache
def _hints(kind: type) -> dict[str, Any]:
    return typing.get_type_hints(kind)
