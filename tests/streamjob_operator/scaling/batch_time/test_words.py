"""What a person is told of a decision: sentences whose numbers can be checked by hand."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest
from small_models import placed
from views import hot
from worlds import job

from streamjob_operator.scaling.batch_time.needs import View
from streamjob_operator.scaling.batch_time.words import enough, fits, more
from streamjob_planners.advice.more_groups import MoreGroups
from streamjob_planners.batch.predict import Binding, Part
from streamjob_planners.forecast.past import Forecast, Method
from streamjob_planners.sizing.fewest import Aim, Fewest, Judged
from streamjob_planners.sizing.lateness import Duration
from streamjob_planners.sizing.pace import Pace

MODEL = placed([1.0] * 4, [0] * 4)
AIM = Aim(batch_s=10.0, late_ratio=0.05, gone_within_s=300.0)
ENDLESS = dataclasses.replace(AIM, batch_s=None)
LATE = "no number of executors up to the largest brings batches within their time"
RATE = "at 1,000 rows/s"


def judged(executors: int = 3, batch_s: float | None = 8.0, **changes: Any) -> Judged:
    """Batches of two seconds and half a millisecond a row, seldom late; nothing gathers."""
    longest = changes.pop("longest", Binding(part=Part.EXECUTOR, seconds=7.0))
    pace = Pace(executors=executors, fixed_s=2.0, row_s=5e-4, spread_ratio=0.1, longest=longest)
    batch = None if batch_s is None else Duration(mean_s=batch_s, spread_s=0.8)
    given = {"late_ratio": 0.02, "gone_s": None, "in_time": True, "clears": True, **changes}
    return Judged(pace=pace, batch=batch, **given)


def fewest(reached: bool = True, **changes: Any) -> Fewest:
    return Fewest(judged=judged(**changes), reached=reached)


def view(backlog_rows: float = 0.0, most_rows: float | None = None, ahead: Forecast | None = None) -> View:
    plain = hot(0.02, 1.0)
    arriving = dataclasses.replace(plain.arriving, backlog_rows=backlog_rows, most_rows=most_rows)
    return dataclasses.replace(plain, arriving=arriving, ahead=ahead or plain.ahead)


def told(found: Fewest, aim: Aim = AIM, **changes: Any) -> str:
    return enough(view(**changes), found, aim, MODEL)


@pytest.mark.parametrize(
    ("found", "aim", "sentence"),
    [
        (judged(), AIM, "batches of 3 executors take 8.0 s of 10.0 s, late 2 times in 100,"),
        (judged(1), AIM, "batches of one executor take 8.0 s of 10.0 s, late 2 times in 100,"),
        (judged(2), AIM, "batches of 2 executors take 8.0 s of 10.0 s, late 2 times in 100,"),
        (judged(late_ratio=0.0009), AIM, "batches of 3 executors take 8.0 s of 10.0 s, hardly ever late,"),
        (judged(late_ratio=0.001), AIM, "batches of 3 executors take 8.0 s of 10.0 s, late 0.1 times in 100,"),
        (judged(late_ratio=0.01), AIM, "batches of 3 executors take 8.0 s of 10.0 s, late 1 times in 100,"),
        (judged(late_ratio=0.96), AIM, "batches of 3 executors take 8.0 s of 10.0 s, late 96 times in 100,"),
        (judged(batch_s=None), AIM, "batches of 3 executors would grow without end"),
        (judged(), ENDLESS, "rows take 75 percent of the time of 3 executors"),
        (judged(batch_s=0.0), ENDLESS, "rows take 0 percent of the time of 3 executors"),
        (judged(batch_s=200.0), AIM, "batches of 3 executors take 200 s of 10.0 s, late 2 times in 100,"),
        (judged(batch_s=100.0), AIM, "batches of 3 executors take 100 s of 10.0 s, late 2 times in 100,"),
        (judged(batch_s=99.5), AIM, "batches of 3 executors take 99.5 s of 10.0 s, late 2 times in 100,"),
        (judged(batch_s=1.0), AIM, "batches of 3 executors take 1.0 s of 10.0 s, late 2 times in 100,"),
        (judged(batch_s=1.25), AIM, "batches of 3 executors take 1.2 s of 10.0 s, late 2 times in 100,"),
        (judged(batch_s=0.25), AIM, "batches of 3 executors take 0.25 s of 10.0 s, late 2 times in 100,"),
    ],
)
def test_what_batches_take(found: Judged, aim: Aim, sentence: str) -> None:
    """Of a batch of 8 s rows take 6, three quarters; nothing where a batch takes no time."""
    assert fits(view(), found, aim) == f"{sentence} {RATE}"
    assert enough(view(), Fewest(judged=found, reached=True), aim, MODEL) == f"{sentence} {RATE}"


@pytest.mark.parametrize(
    ("backlog_rows", "changes", "words"),
    [
        (0.0, {}, ""),
        (0.0, {"gone_s": 40.0}, ", with what gathers until they are there gone in 40 s"),
        (0.0, {"clears": False}, ", with what gathers until they are there never gone"),
        (0.5, {"gone_s": 40.0}, ", with a backlog of 0 rows gone in 40 s"),
        (1.0, {"gone_s": 40.0}, ", with a backlog of 1 rows gone in 40 s"),
        (25_000.0, {"gone_s": 40.0}, ", with a backlog of 25,000 rows gone in 40 s"),
        (25_000.0, {}, ", with a backlog of 25,000 rows that stays"),
    ],
)
def test_what_becomes_of_a_backlog(backlog_rows: float, changes: dict[str, Any], words: str) -> None:
    assert fits(view(backlog_rows), judged(**changes), AIM).endswith(RATE + words)
    assert told(fewest(**changes), backlog_rows=backlog_rows).endswith(RATE + words)


def test_a_source_that_hands_out_no_more_is_named() -> None:
    assert told(fewest(), most_rows=12_000.0).endswith("; the source hands out 12,000 rows a batch, whatever waits")


@pytest.mark.parametrize(
    ("method", "errors", "words"),
    [
        (Method.NAIVE, (0.1, 0.1), ""),
        (Method.RISE, (None, 0.1), " (expected as it rises from batch to batch)"),
        (
            Method.TREND,
            (0.04, 0.6),
            " (expected as it has been rising or falling; off by 4 percent so far, the rate itself by 60)",
        ),
        (
            Method.DAY,
            (0.6, 0.04),
            " (expected as at this time on earlier days; off by 60 percent so far, the rate itself by 4)",
        ),
        (
            Method.WEEK,
            (None, None),
            " (expected as at this time in earlier weeks; off by 0 percent so far, the rate itself by 0)",
        ),
    ],
)
def test_how_the_rate_was_foretold(method: Method, errors: tuple[float | None, float | None], words: str) -> None:
    own, naive = errors
    ahead = Forecast(rate_rps=1000.0, spread=0.0, method=method, error_ratio=own, naive_ratio=naive)
    assert fits(view(ahead=ahead), judged(), AIM).endswith(RATE + words)
    assert told(fewest(reached=False, in_time=False), ahead=ahead).endswith(RATE + words)


def test_a_load_that_comes_back_is_told_with_its_period() -> None:
    ahead = Forecast(
        rate_rps=1000.0,
        spread=0.0,
        method=Method.PERIOD,
        error_ratio=0.06,
        naive_ratio=0.14,
        every_s=1203.9,
    )
    comes_back = " (expected as it comes back every 20m; off by 6 percent so far, the rate itself by 14)"
    assert f"{RATE}{comes_back}" in told(fewest(), ahead=ahead)


HEAVY = Binding(part=Part.KEY_GROUP, seconds=20.0, group=2)
SHARED = "; more key groups help only if several keys share it: streamjob repartition CHECKPOINT --key-groups 8"


@pytest.mark.parametrize(
    ("longest", "words"),
    [
        (Binding(part=Part.FIXED, seconds=12.0), "planning, commits and launching tasks take 12.0 s"),
        (Binding(part=Part.FREE_STAGE, seconds=12.0), "stages without key groups take 12.0 s"),
        (Binding(part=Part.EXECUTOR, seconds=12.0, group=2), "the slowest executor of a stage takes 12.0 s"),
        (dataclasses.replace(HEAVY, group=None), "the slowest executor of a stage takes 20.0 s"),
        (HEAVY, f"key group 2 of operator 0 alone takes 20.0 s{SHARED} (in place of 4)"),
    ],
)
def test_what_keeps_every_number_of_executors_from_it(longest: Binding, words: str) -> None:
    found = fewest(reached=False, in_time=False, batch_s=15.0, longest=longest)
    assert told(found) == f"{LATE} (10.0 s wanted): {words}; batches of 3 executors take 15.0 s, {RATE}"


def test_batches_without_end_are_told_as_none_and_an_aim_without_a_time_asks_for_no_key_groups() -> None:
    found = fewest(reached=False, in_time=False, batch_s=None, longest=HEAVY)
    words = "key group 2 of operator 0 alone takes 20.0 s; batches of 3 executors grow without end"
    assert told(found, ENDLESS) == f"{LATE}: {words}, {RATE}"
    assert more(view(), found, ENDLESS, MODEL) is None


@pytest.mark.parametrize(("reached", "in_time"), [(True, True), (True, False), (False, True)])
def test_where_batches_are_in_time_or_enough_is_reached_nothing_is_too_long(reached: bool, in_time: bool) -> None:
    found = fewest(reached=reached, in_time=in_time, longest=HEAVY)
    assert told(found).startswith("batches of 3 executors take 8.0 s")
    assert more(view(), found, AIM, MODEL) is None


def test_more_key_groups_are_proposed_for_a_heavy_one_alone() -> None:
    found = fewest(reached=False, in_time=False, longest=dataclasses.replace(HEAVY, seconds=40.0))
    assert more(view(), found, AIM, MODEL) == MoreGroups(now=4, wanted=16, shared=True)
    slow = fewest(reached=False, in_time=False, longest=Binding(part=Part.EXECUTOR, seconds=40.0, group=2))
    assert more(view(), slow, AIM, MODEL) is None


@pytest.mark.parametrize("part", [Part.EXECUTOR, Part.KEY_GROUP])
def test_a_latency_that_the_trigger_takes_for_itself_is_named_and_ends_no_cycle(part: Part) -> None:
    """Batches may take no time at all then, and a heavy key group takes any number of times too long."""
    plain = view()
    policy = job(("scaling: {mode: Auto", "scaling: {mode: Auto, maxLatency: 10s"))
    found = fewest(False, in_time=False, longest=Binding(part=part, seconds=7.0, group=1))
    aim = dataclasses.replace(AIM, batch_s=0.0)
    asked = dataclasses.replace(plain, job=policy)
    named = f"{LATE} (scaling.maxLatency is 10s, more than the trigger interval of 10s is needed): "
    assert enough(asked, found, aim, MODEL).startswith(named)
    assert more(asked, found, aim, MODEL) is None
