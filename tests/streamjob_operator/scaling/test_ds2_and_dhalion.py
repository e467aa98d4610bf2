"""DS2 and Dhalion by the formulas of their papers."""

import pytest
from situations import busy, situation_of
from worlds import job

from streamjob_operator.scaling.rivals import dhalion, ds2

WIDE = job(("{min: 1, max: 6}", "{min: 1, max: 50}"))


@pytest.mark.parametrize(
    ("arriving", "instance", "instances"),
    [(1000.0, 100.0, 10), (1001.0, 100.0, 11), (0.0, 100.0, 1), (2_000_000.0, 100_000.0, 20)],
)
def test_ds2_divides_what_arrives_by_what_an_instance_truly_takes(
    arriving: float, instance: float, instances: int
) -> None:
    assert ds2.optimal(arriving, instance) == instances


@pytest.mark.parametrize(("before", "after", "counts"), [(4, 5, True), (4, 4, False), (4, 3, False), (4, 2, True)])
def test_one_instance_less_is_no_change(before: int, after: int, counts: bool) -> None:
    assert ds2.significant(before, after) is counts


def test_ds2_waits_two_intervals_and_then_takes_one_step() -> None:
    rule, state, wishes = ds2.Ds2Rule(), None, []
    for cycle in range(5):
        seen = busy(10, 40.0, 1000.0 + 10.0 * cycle, input_rps=1000.0, other_busy_s=0.0, lag_rows=None)
        wish, state = rule.decide(situation_of(seen, policy=WIDE), state)
        wishes.append(wish.executors)
    # Ten slots busy to 40 percent take 1000 rows/s: a slot takes 250 rows/s, four do.
    assert wishes == [10, 10, 10, 4, 4]


@pytest.mark.parametrize(("executors", "suspended", "after"), [(4, 0.2, 5), (10, 0.5, 20), (3, 0.1, 4)])
def test_a_fifth_of_the_time_in_backpressure_is_a_quarter_more(executors: int, suspended: float, after: int) -> None:
    assert dhalion.scaled_up(executors, suspended) == after


def dhalion_wishes(*batches: tuple[float, float]) -> list[int]:
    """Wishes of a job of ten for (moment, mean batch), what it wishes for being there at once."""
    rule, state, there, wishes = dhalion.DhalionRule(), None, 10, []
    for at_s, batch_s in batches:
        rates = {"mean_batch_s": batch_s, "trigger_interval_s": 10.0, "input_rps": 100.0, "lag_rows": 500.0}
        wish, state = rule.decide(situation_of(busy(there, 50.0, at_s, **rates), policy=WIDE), state)
        there = wish.executors
        wishes.append(there)
    return wishes


def test_dhalion_scales_down_by_a_fifth_after_five_minutes_of_calm() -> None:
    assert dhalion_wishes((0.0, 5.0), (290.0, 5.0), (300.0, 5.0), (590.0, 5.0), (600.0, 5.0)) == [10, 10, 8, 8, 6]


def test_dhalion_does_not_repeat_what_did_harm() -> None:
    calm, harm = (0.0, 5.0), (610.0, 12.5)
    assert dhalion_wishes(calm, (300.0, 5.0), harm, (1000.0, 5.0), (1400.0, 5.0)) == [10, 8, 10, 10, 10]
