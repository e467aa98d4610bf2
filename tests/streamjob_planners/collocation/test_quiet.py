"""Planners that cut graphs write nothing where a user looks, not even through a C library's own stdout."""

from __future__ import annotations

import ctypes

import numpy as np
import pytest
from scipy import sparse

from streamjob_planners import registry
from streamjob_planners.collocation import partition
from streamjob_planners.model import Budget, PlanParams

PARAMS = PlanParams(budget=Budget(), deadline_s=60.0, max_iterations=200)


def _lopsided(small_model, seed):
    """Sixty key groups that all talk; one carries more than all others, and every fifth nothing."""
    rng = np.random.default_rng(seed)
    load = np.where(np.arange(60) % 5, rng.lognormal(0.0, 1.0, 60), 0.0)
    load[7] = 900.0
    links = sparse.coo_array(sparse.random_array((60, 60), density=0.3, rng=rng))
    pairs = {(int(i), int(j)): float(rate) for i, j, rate in zip(links.row, links.col, links.data, strict=True)}
    return small_model(rng.integers(0, 20, 60).tolist(), load.tolist(), pairs, n_nodes=20)


def _said(capfd):
    ctypes.CDLL(None).fflush(None)  # what a C library has written may still wait in its buffer
    said = capfd.readouterr()
    return said.out + said.err


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("name", ["albic", "albic-paper", "cola"])
def test_no_planner_lets_a_library_speak(small_model, name, seed, capfd):
    model = _lopsided(small_model, seed)
    registry.get(name).solve(model, PARAMS, np.random.default_rng(seed), lambda: 0.0)
    assert _said(capfd) == ""


@pytest.mark.skipif(not partition.metis_installed(), reason="METIS is an extra")
def test_what_is_looked_for_is_found_where_nothing_keeps_the_library_from_it(small_model, capfd, monkeypatch):
    monkeypatch.setattr(partition, "_giants", lambda weight, n_parts: np.zeros(weight.size, dtype=np.bool_))
    registry.get("albic").solve(_lopsided(small_model, 0), PARAMS, np.random.default_rng(0), lambda: 0.0)
    assert "Cannot bisect a graph with 0 vertices" in _said(capfd)
