"""Values of the cycle as JSON: what numpy made of a number is that number."""

from __future__ import annotations

import dataclasses
import enum
import json
from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
from scipy import sparse

from streamjob_operator.codec import decode, encode
from streamjob_planners.model import BoolArray, FloatArray, GroupId, IntArray


@pytest.mark.parametrize(
    ("value", "plain"), [(np.int64(4), 4), (np.float64(0.5), 0.5), (np.bool_(True), True), ((np.int32(1),), [1])]
)
def test_numbers_of_numpy_are_plain_ones(value: object, plain: object) -> None:
    found = encode(value)
    assert json.loads(json.dumps(found)) == plain
    assert isinstance(found, type(plain))


def test_what_no_value_of_the_cycle_is_is_refused() -> None:
    with pytest.raises(TypeError, match="object is not a value of the cycle"):
        encode(object())
    with pytest.raises(ValueError, match="a finite number is needed"):
        encode(np.float32("nan"))


class Mode(enum.Enum):
    ON = "on"


@dataclasses.dataclass(frozen=True, kw_only=True)
class Inner:
    whole: int = 1


@dataclasses.dataclass(frozen=True, kw_only=True)
class Value:
    """One field of each kind."""

    needed: bool
    seconds: float = 0.0
    whole: int = 0
    text: str = ""
    mode: Mode = Mode.ON
    group: GroupId | None = None
    numbers: FloatArray = dataclasses.field(default_factory=lambda: np.zeros(0))
    places: IntArray = dataclasses.field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    marks: BoolArray = dataclasses.field(default_factory=lambda: np.zeros(0, dtype=np.bool_))
    inner: tuple[Inner, ...] = ()
    pair: tuple[str, int] | None = None
    named: Mapping[str, float] = dataclasses.field(default_factory=dict)
    matrix: sparse.csr_array | None = None


def cells(**changes: Any) -> dict[str, Any]:
    return {"shape": [2, 2], "at": [[0], [1]], "values": [1.0], **changes}


def test_what_was_encoded_is_decoded() -> None:
    value = Value(
        needed=False,
        seconds=2,
        group=GroupId(operator=1, partition=20),
        numbers=np.array([1.0, 2.5]),
        places=np.array([3]),
        marks=np.array([True, False]),
        inner=(Inner(whole=2),),
        pair=("a", 1),
        named={"b": 0.5},
        matrix=sparse.csr_array(np.eye(2)),
    )
    again = decode(Value, json.loads(json.dumps({**encode(value), "newer": 1})))
    assert encode(again) == encode(value)
    assert (again.needed, type(again.seconds), again.mode) == (False, float, Mode.ON)
    assert (again.places.dtype, again.marks.dtype) == (np.dtype(np.int64), np.dtype(np.bool_))


@pytest.mark.parametrize(
    ("field", "value", "sentence"),
    [
        ("needed", "false", 'needed: "false" given, true or false is needed'),
        ("needed", 0, "needed: 0 given, true or false is needed"),
        ("seconds", True, "seconds: true given, a finite number is needed"),
        ("seconds", "1", 'seconds: "1" given, a finite number is needed'),
        ("seconds", float("inf"), "seconds: Infinity given, a finite number is needed"),
        ("seconds", 10**400, "seconds: 1000"),
        ("seconds", 10**5000, "seconds: a value that cannot be shown given, a finite number is needed"),
        ("whole", 1.5, "whole: 1.5 given, a whole number is needed"),
        ("text", 7, "text: 7 given, text is needed"),
        ("mode", "off", 'mode: "off" given, one of on is needed'),
        ("mode", ["on"], r'mode: \["on"\] given'),
        ("group", "0/-1", 'group: "0/-1" given, OPERATOR/PARTITION, two whole numbers, is needed'),
        ("group", "0/99999999999", "OPERATOR/PARTITION"),
        ("numbers", "123", 'numbers: "123" given, a list is needed'),
        ("numbers", ["1"], "numbers: finite numbers are needed, and nothing else"),
        ("numbers", [None], "numbers: finite numbers are needed, and nothing else"),
        ("numbers", [True], "numbers: finite numbers are needed, and nothing else"),
        ("numbers", [float("nan")], "numbers: finite numbers are needed"),
        ("numbers", [[1.0], [1.0, 2.0]], "numbers: a list of numbers, or of lists of equal length, is needed"),
        ("numbers", [10**400], "numbers: "),
        ("places", [0.5], "places: whole numbers are needed"),
        ("marks", [1], "marks: true and false are needed"),
        ("inner", "ab", 'inner: "ab" given, a list is needed'),
        ("inner", [{}, {"whole": "x"}], r'inner\[1\].whole: "x" given, a whole number is needed'),
        ("pair", ["a"], "pair: 1 entries given, 2 are needed"),
        ("named", {"b": None}, "named.b: null given, a finite number is needed"),
        ("matrix", [], r"matrix: \[\] given, an object is needed"),
        ("matrix", cells(shape=[10**9, 2]), "matrix.shape: .* rows and columns of at most 1000000 is needed"),
        ("matrix", cells(shape=[2]), "matrix.shape: .* two whole numbers is needed"),
        ("matrix", cells(at=[[0]]), "matrix.at: .* a list of rows and one of columns is needed"),
        ("matrix", cells(at=[[0], [1, 0]]), "matrix: a row, a column and a finite number are needed for each cell"),
        ("matrix", cells(at=[[0], [9]]), "matrix: cells and shape do not fit"),
    ],
    ids=lambda value: value[:40] if isinstance(value, str) else type(value).__name__,
)
def test_what_is_another_kind_is_told_by_its_place(field: str, value: Any, sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        decode(Value, {"needed": True, field: value})


def test_a_field_that_is_missing_and_a_value_that_is_no_object_are_told() -> None:
    with pytest.raises(ValueError, match=r"^needed: this field is missing$"):
        decode(Value, {})
    with pytest.raises(ValueError, match=r"^Value: \[\] given, an object is needed$"):
        decode(Value, [])
