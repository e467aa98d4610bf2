"""What a move must gain, by the statistics period and by what the user says."""

from __future__ import annotations

import pytest

from streamjob_operator.spec import Balancing
from streamjob_operator.steps.worth import move_price


@pytest.mark.parametrize(
    ("stated", "points"),
    [
        ({}, 0.05),  # the default period of 5 minutes
        ({"statisticsPeriod": "40s"}, 0.05),
        ({"statisticsPeriod": "20s"}, 0.1),  # 0.2 s of work, a thousandth of ten periods
        ({"statisticsPeriod": "4s"}, 0.5),
        ({"statisticsPeriod": "1s"}, 2.0),
        ({"statisticsPeriod": "4s", "pricePerMove": 0.0}, 0.0),
        ({"statisticsPeriod": "4s", "pricePerMove": 0.07}, 0.07),
    ],
)
def test_a_move_must_gain_what_it_costs_within_ten_periods(stated: dict[str, object], points: float) -> None:
    assert move_price(Balancing.model_validate(stated)) == pytest.approx(points)
