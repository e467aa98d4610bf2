"""Fox's greedy method against every allocation there is."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from streamjob_planners.capacity.minimax import allocate


def _best(functions, low, high, total):
    ranges = [range(a, b + 1) for a, b in zip(low, high, strict=True)]
    fits = [one for one in itertools.product(*ranges) if sum(one) == total]
    return min(max(functions[j][w] for j, w in enumerate(one)) for one in fits) if fits else None


@settings(max_examples=150, deadline=None, derandomize=True)
@given(seed=st.integers(0, 10**6), n=st.integers(1, 4), total=st.integers(1, 8))
def test_no_allocation_has_a_smaller_largest_value(seed, n, total):
    rng = np.random.default_rng(seed)
    functions = np.cumsum(rng.integers(0, 4, (n, total + 1)), axis=1).astype(np.float64)
    low = rng.integers(0, total // n + 1, n)
    high = np.minimum(low + rng.integers(0, total + 1, n), total)
    weights = allocate(functions, low, high, total)
    assert ((low <= weights) & (weights <= high)).all()
    best = _best(functions.tolist(), low.tolist(), high.tolist(), total)
    if best is None:
        assert weights.tolist() == high.tolist()
    else:
        assert weights.sum() == total
        assert max(functions[j, w] for j, w in enumerate(weights)) == best


def test_equal_functions_share_evenly():
    functions = np.tile(np.zeros(11), (3, 1))
    assert allocate(functions, np.zeros(3, dtype=int), np.full(3, 10), 10).tolist() == [4, 3, 3]


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"functions": np.zeros((2, 4))}, "functions"),
        ({"low": np.array([0])}, "low"),
        ({"low": np.array([5, 0]), "high": np.array([4, 10])}, "low <= high"),
        ({"low": np.array([6, 6])}, "sum 12"),
    ],
)
def test_bad_input_is_refused_by_name(changes, field):
    good = {"functions": np.zeros((2, 11)), "low": np.zeros(2, dtype=int), "high": np.full(2, 10), "total": 10}
    with pytest.raises(ValueError, match=field):
        allocate(**(good | changes))
