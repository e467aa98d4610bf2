"""The balancer on regions that block as the paper says: slow ones, equal ones, and ones that recover."""

from __future__ import annotations

import math

import numpy as np
import pytest

from streamjob_planners.capacity.balancer import balancer
from streamjob_planners.capacity.blocking import RISE, STEPS, BlockingRates
from streamjob_planners.capacity.clusters import clusters, distances, knees


def _blocking(weights, speed, splitter=10.0):
    """A splitter of that speed is held up by the connection whose share is the most for its speed, and only by it."""
    share = np.maximum(weights, 1e-9) / STEPS
    worst = int((share / speed).argmax())
    blocking = np.zeros(weights.size)
    blocking[worst] = max(0.0, 1 - (speed / share)[worst] / splitter)
    return blocking


def _throughput(weights, speed, splitter=10.0):
    share = np.maximum(weights, 1e-9) / STEPS
    return min(splitter, float((speed / share).min()))


def _run(speeds, seconds, adaptive=True):
    now = balancer(len(speeds(0)), adaptive=adaptive)
    for second in range(seconds):
        now = now.observed(_blocking(now.weights, speeds(second)))
    return now


def test_a_slow_one_gets_little_and_all_is_given_out():
    speed = np.array([1.0, 1.0, 0.1])
    found = _run(lambda _: speed, 60)
    assert found.weights.sum() == STEPS
    assert _throughput(found.weights, speed) > 0.75 * speed.sum()


def test_the_adaptive_one_finds_out_that_load_has_gone_the_static_one_does_not():
    slow, fast = np.array([0.02, 1.0, 1.0]), np.ones(3)

    def speeds(second):
        return slow if second < 60 else fast

    adaptive, static = (_run(speeds, 500, adaptive=kind) for kind in (True, False))
    assert _throughput(adaptive.weights, fast) > 1.15 * _throughput(static.weights, fast)


def test_knees_and_distances_by_hand():
    late, early = BlockingRates(points={500: 0.0, 1000: 0.5}), BlockingRates(points={5: 0.0, 10: 0.5})
    functions = np.stack([late.function(), early.function()])
    assert abs(knees(functions)[0] - 500) <= 2
    assert knees(functions)[1] == 5
    apart = distances(functions)
    assert apart[0, 0] == 0.0
    alpha = math.log(STEPS) / abs(math.log(STEPS * RISE))
    knee = knees(functions)
    by_hand = max(
        math.log(knee[0] / knee[1]),
        alpha * abs(math.log(functions[0, knee[0]] / functions[1, knee[1]])),
        alpha * abs(math.log(functions[0, STEPS] / functions[1, STEPS])),
    )
    assert apart[0, 1] == apart[1, 0] == pytest.approx(by_hand)


def test_like_functions_share_a_cluster():
    slow = [BlockingRates(points={5: 0.5 + 0.01 * i}).function() for i in range(3)]
    fast = [BlockingRates(points={400: 0.0, 800: 0.1 + 0.01 * i}).function() for i in range(3)]
    assert clusters(np.stack([*slow, *fast])).tolist() == [0, 0, 0, 1, 1, 1]
    assert clusters(np.stack(slow[:1])).tolist() == [0]


def test_many_connections_are_clustered_and_weights_of_a_cluster_are_alike():
    speed = np.repeat([1.0, 0.05], 20)
    found = _run(lambda _: speed, 120)
    assert found.cluster_of is not None
    assert found.weights[:20].mean() > 3 * found.weights[20:].mean()


@pytest.mark.parametrize("n", [0, 1001])
def test_a_number_of_connections_that_cannot_be_is_refused(n):
    with pytest.raises(ValueError, match="connections"):
        balancer(n)
