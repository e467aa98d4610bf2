"""Windows without holes, hints by the clock, and what a batch may take."""

from __future__ import annotations

import pytest
from worlds import job

from streamjob_operator.scaling.batch_time import calm
from streamjob_operator.scaling.batch_time.hints import hinted
from streamjob_operator.scaling.batch_time.state import Calm
from streamjob_operator.scaling.objective import batch_objective_s
from streamjob_operator.spec import StreamJob
from streamjob_operator.spec.policies import Hint, Scaling

EIGHT_S = 1_767_225_600.0 + 8 * 3600.0
"""Eight in the morning of 2026-01-01, UTC."""


def looked(wishes: list[int], step_s: float = 60.0, down_s: float = 300.0) -> Calm:
    seen = Calm()
    for number, wish in enumerate(wishes):
        seen = calm.with_wish(seen, wish, 1000.0 + step_s * number, 60.0, down_s)
    return seen


def test_downwards_goes_the_most_of_a_whole_window() -> None:
    assert calm.downwards(looked([3, 2, 4]), 6, 300.0) == 6  # two minutes of five
    assert calm.downwards(looked([3, 2, 4, 2, 2, 2]), 6, 300.0) == 4
    assert calm.downwards(looked([9, 2, 4, 2, 2, 2, 2]), 6, 300.0) == 4
    assert calm.downwards(looked([2] * 6), 6, 300.0) == 2
    assert calm.downwards(looked([2]), 6, 0.0) == 2


def test_looking_again_at_one_measurement_covers_no_time() -> None:
    """Batches of 12 s, looked at each second; one was measured before executors came, the next ends 12 s later."""
    seen = calm.with_wish(Calm(), 4, 1000.0, 10.0, 8.0)
    for _ in range(12):
        seen = calm.with_wish(seen, 3, 1000.0, 10.0, 8.0)
        assert calm.downwards(seen, 4, 8.0) == 4
    for at_s, down in ((1012.0, 4), (1024.0, 3)):
        seen = calm.with_wish(seen, 3, at_s, 10.0, 8.0)
        assert calm.downwards(seen, 4, 8.0) == down


def test_a_wish_stands_until_the_next_measurement() -> None:
    """Five minutes apart: that of 1200 holds for what happened up to 1500, and for ten minutes after that."""
    seen = Calm()
    for at_s, wish, down in ((900.0, 4, 9), (1200.0, 4, 9), (1500.0, 2, 4), (1800.0, 2, 4), (2100.0, 2, 2)):
        seen = calm.with_wish(seen, wish, at_s, 300.0, 600.0)
        assert calm.downwards(seen, 9, 600.0) == down


def test_a_hole_begins_the_window_anew() -> None:
    seen = calm.with_wish(looked([2] * 10), 2, 1000.0 + 540.0 + 91.0, 60.0, 300.0)
    assert calm.downwards(seen, 6, 300.0) == 6


def test_what_is_kept_of_a_window_stays_small() -> None:
    assert len(looked([7, 5, 6, 4, 4, 4, 3, 3, 1] * 20, step_s=1.0).wishes) <= 8


def test_upwards_goes_the_least_of_a_whole_window() -> None:
    high = calm.with_need(None, 5, 3, 1000.0)
    assert calm.upwards(high, 5, 3, 1000.0, 0.0) == 5
    assert calm.upwards(high, 5, 3, 1030.0, 60.0) == 3
    later = calm.with_need(calm.with_need(high, 4, 3, 1030.0), 6, 3, 1060.0)
    assert calm.upwards(later, 6, 3, 1060.0, 60.0) == 4
    assert calm.with_need(later, 3, 3, 1070.0) is None


@pytest.mark.parametrize(
    ("latency", "trigger_s", "batch_s"),
    [
        (None, 10.0, 10.0),
        (None, 0.0, None),
        ("15s", 10.0, 5.0),
        ("8s", 10.0, 0.0),
        ("60s", 10.0, 30.0),
        ("6s", 0.0, 3.0),
    ],
)
def test_a_batch_may_take_what_the_age_of_results_leaves(
    latency: str | None, trigger_s: float, batch_s: float | None
) -> None:
    scaling = Scaling() if latency is None else Scaling.model_validate({"maxLatency": latency})
    assert batch_objective_s(scaling, trigger_s) == batch_s


def with_hints(*hints: dict[str, object]) -> StreamJob:
    made = job()
    scaling = made.spec.scaling.model_copy(update={"hints": tuple(Hint.model_validate(one) for one in hints)})
    return made.model_copy(update={"spec": made.spec.model_copy(update={"scaling": scaling})})


def test_a_hint_holds_as_early_as_executors_take_to_come() -> None:
    hints = with_hints({"cron": "0 8 * * *", "duration": "1h", "rate": 5000.0, "executors": 4})
    assert hinted(hints, EIGHT_S - 120.0, 60.0) == (0.0, 0)
    assert hinted(hints, EIGHT_S - 50.0, 60.0) == (5000.0, 4)
    assert hinted(hints, EIGHT_S + 3590.0, 60.0) == (5000.0, 4)
    assert hinted(hints, EIGHT_S + 3610.0, 60.0) == (0.0, 0)


def test_a_hint_that_says_nothing_is_refused() -> None:
    with pytest.raises(ValueError, match="a hint needs rate, executors, or both"):
        Hint.model_validate({"cron": "0 8 * * *", "duration": "1h"})
