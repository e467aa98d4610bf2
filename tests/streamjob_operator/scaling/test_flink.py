"""The Flink autoscaler against cases of JobVertexScalerTest, DelayedScaleDown and its options."""

import math

import pytest
from situations import busy, situation_of
from worlds import job

from streamjob_operator.scaling.rivals import flink_capacity as capacity
from streamjob_operator.scaling.rivals.flink import FlinkRule
from streamjob_operator.scaling.rivals.flink_delay import Delayed, delayed

WIDE = job(("{min: 1, max: 6}", "{min: 1, max: 50}"))


@pytest.mark.parametrize(
    ("current", "target", "true_rate", "factors", "after"),
    [  # JobVertexScalerTest.testParallelismScaling, where parallelism is not aligned
        (10, 50.0, 100.0, {}, 5),
        (2, 100.0 / 0.5, 40.0, {}, 10),
        (2, 100.0 / 0.6, 100.0, {}, 4),
        (10, 10.0, 100.0, {"max_down": 0.5}, 5),
        (10, 10.0, 100.0, {"max_down": 0.6}, 4),
        (10, 200.0, 10.0, {"max_up": 0.5}, 15),
        (10, 200.0, 10.0, {"max_up": 0.6}, 16),
    ],
)
def test_parallelism(current: int, target: float, true_rate: float, factors: dict[str, float], after: int) -> None:
    assert capacity.parallelism(current, target, true_rate, **factors) == after


def evaluated(arriving: float, true_rps: float, lag: float = 0.0) -> capacity.Evaluated:
    return capacity.Evaluated(arriving_rps=arriving, lag=lag, true_rps=true_rps, taken_rps=arriving)


def test_capacity_is_for_arrivals_backlog_and_a_restart() -> None:
    """Target = lag / catch-up + rate * restart / catch-up + rate / utilisation: 1800 s and 300 s by default."""
    assert evaluated(700.0, 1000.0).target(0.7, restart=False) == 1000.0
    assert evaluated(600.0, 1000.0).target(1.0, restart=True) == 700.0
    assert evaluated(600.0, 1000.0, lag=180_000.0).target(1.0, restart=False) == 700.0
    assert evaluated(600.0, 1000.0).target(0.0, restart=True) == math.inf


@pytest.mark.parametrize(
    ("arriving", "lag", "outside"), [(990.0, 0.0, False), (1001.0, 0.0, True), (380.0, 0.0, False), (340.0, 0.0, True)]
)
def test_utilisation_between_forty_percent_and_all_is_left_alone(arriving: float, lag: float, outside: bool) -> None:
    assert evaluated(arriving, 1000.0, lag).outside is outside


def test_while_a_backlog_is_worked_off_nothing_is_scaled_down() -> None:
    assert not evaluated(100.0, 1000.0, lag=100.0 * 301).outside


def test_scaling_down_waits_an_hour_and_takes_the_largest_wish_of_it() -> None:
    waits, answers = Delayed(), []
    for at_s, wished in ((0.0, 4), (1200.0, 7), (2400.0, 3), (3599.0, 2), (3600.0, 2), (4801.0, 2)):
        executors, _, waits = delayed(waits, 10, wished, True, at_s)
        answers.append(executors)
    assert answers == [10, 10, 10, 10, 7, 3]


@pytest.mark.parametrize(
    ("promised", "true_rps", "found"),
    [((100.0, 200.0), 105.0, True), ((100.0, 200.0), 110.0, False), ((100.0, 200.0), 90.0, True), (None, 1.0, False)],
)
def test_less_than_a_tenth_of_what_was_promised_is_ineffective(
    promised: tuple[float, float] | None, true_rps: float, found: bool
) -> None:
    assert capacity.ineffective(promised, true_rps) is found


def test_it_decides_after_five_minutes_of_rest_and_a_window_of_fifteen() -> None:
    rule, state, wishes = FlinkRule(), None, []
    rates = {"batches": 1, "mean_batch_s": 10.0, "input_rps": 1000.0}
    for cycle in range(130):
        at_s = 10.0 * cycle
        seen = busy(3, 90.0, at_s, **rates, lag_rows=1000.0 * cycle)
        wish, state = rule.decide(situation_of(seen, policy=WIDE), state)
        wishes.append(wish.executors)
    first = next(at for at, executors in enumerate(wishes) if executors != 3)
    assert first == 120
    # 1000 rows/s are taken all the time and 100 more arrive: 1100 / 0.7 + 1100 / 6 + 120000 / 1800 = 1821, of 1000.
    assert wishes[first] == 6
