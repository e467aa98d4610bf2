"""Values of the cycle as JSON: what numpy made of a number is that number."""

from __future__ import annotations

import json

import numpy as np
import pytest

from streamjob_operator.codec import encode


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
