"""CLB's splits against the listing written out with loops, and against the best cut there is."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from streamjob_planners.clb.split import split_by_covariance


def _by_the_prose(series, n_sets, theta):
    p = series.shape[1]
    cov = [[float(np.mean((x - x.mean()) * (y - y.mean()))) for x in series.T] for y in series.T]

    def partners(k, members):
        return [
            i
            for i in members
            if i != k
            and min(cov[k][k], cov[i][i]) > 0
            and cov[k][i] >= theta * (cov[k][k] * cov[i][i]) ** 0.5 - 1e-12 * (theta == 0)
        ]

    sets = [list(range(p))]
    while len(sets) < n_sets:
        weights = {k: sum(cov[k][i] for i in partners(k, s)) for s in sets for k in s if partners(k, s)}
        if not weights:
            break
        k = max(weights, key=lambda k: (weights[k], -k))
        home = next(s for s in sets if k in s)
        leaving = partners(k, home)
        sets.append(leaving)
        home[:] = [i for i in home if i not in leaving]
    return {frozenset(s) for s in sets if s}


@settings(max_examples=80, derandomize=True)
@given(seed=st.integers(0, 10**6), p=st.integers(1, 9), n=st.integers(1, 5), theta=st.sampled_from([0.0, 0.3, 0.7]))
def test_it_is_the_paper_s_listing(seed, p, n, theta):
    series = np.random.default_rng(seed).uniform(0.0, 10.0, (6, p))
    set_of = split_by_covariance(series, n, theta)
    ours = {frozenset(np.flatnonzero(set_of == s).tolist()) for s in range(n)} - {frozenset()}
    assert ours == _by_the_prose(series, n, theta)


def _cross_covariance(series, set_of):
    total = np.var(series.sum(axis=1))
    return total - sum(np.var(series[:, set_of == s].sum(axis=1)) for s in range(set_of.max() + 1))


def _best_cut(series):
    cuts = (np.array((0, *rest)) for rest in itertools.product((0, 1), repeat=series.shape[1] - 1))
    return max(_cross_covariance(series, cut) for cut in cuts)


def test_a_split_parts_the_chosen_one_from_its_partners_but_is_no_good_cut():
    """What the paper claims is that one's contribution; its partners stay together, and so the cut may be negative."""
    wave = np.sin(np.arange(12))
    series = np.outer(wave, [3, 2, 2, 2, 2, -2, -2, -2]) + 10
    set_of = split_by_covariance(series, 2)
    assert set_of.tolist() == [0, 1, 1, 1, 1, 0, 0, 0]
    assert _cross_covariance(series, set_of) < 0 < _best_cut(series)


def test_one_set_for_each_undoes_all_covariance_there_is():
    series = np.outer(np.sin(np.arange(12)), [3.0, 2.0, 1.0]) + 10
    set_of = split_by_covariance(series, 3)
    assert sorted(set_of.tolist()) == [0, 1, 2]
    assert _cross_covariance(series, set_of) == pytest.approx(np.var(series.sum(axis=1)) - np.var(series, axis=0).sum())


def test_groups_that_never_vary_stay_and_sets_may_be_empty():
    assert split_by_covariance(np.ones((4, 3)), 3).tolist() == [0, 0, 0]


@pytest.mark.parametrize(
    ("changes", "field"),
    [({"n_sets": 0}, "n_sets"), ({"theta": 1.0}, "theta"), ({"series": np.ones((1, 3))}, "series")],
)
def test_bad_input_is_refused_by_name(changes, field):
    with pytest.raises(ValueError, match=field):
        split_by_covariance(**({"series": np.ones((4, 3)), "n_sets": 2} | changes))
