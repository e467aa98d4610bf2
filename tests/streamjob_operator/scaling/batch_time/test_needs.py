"""How many executors a view of the job asks for."""

from __future__ import annotations

import dataclasses

import pytest
from small_models import timed
from views import hot
from worlds import job

from streamjob_operator.scaling.batch_time import words
from streamjob_operator.scaling.batch_time.aims import aim_of
from streamjob_operator.scaling.batch_time.arriving import Arriving
from streamjob_operator.scaling.batch_time.needs import View, needs
from streamjob_operator.scaling.rule import Fleet
from streamjob_planners.advice.more_groups import MoreGroups


def behind(executors: int) -> View:
    """So many executors, and 250,000 rows wait: three of them take some 500 s for these."""
    backlog = Arriving(rate_rps=1000.0, backlog_rows=2.5e5, waiting_rows=2.5e5, grows=False, most_rows=None, came=None)
    fleet = Fleet(ready=executors, wanted=executors, marked=0)
    return dataclasses.replace(hot(0.02, 1.0), fleet=fleet, arriving=backlog)


def test_a_backlog_that_is_gone_in_time_is_left_to_those_that_are_there() -> None:
    assert needs(behind(3)).today_enough


def test_who_is_asked_for_works_a_backlog_off_in_half_of_the_time() -> None:
    """Foretold batches of a backlog are too short, and who was asked for too few is asked for again."""
    found = needs(behind(2))
    assert not found.today_enough
    assert found.out.executors > 3
    assert found.out.judged.gone_s is not None
    assert found.out.judged.gone_s <= 60.0 + 300.0


@pytest.mark.parametrize("bias", [1.0, 1.3])
def test_what_no_number_of_executors_levels_asks_for_none(bias: float) -> None:
    """The hot key group alone takes 8 s: three executors are enough where it has one of them to itself."""
    assert needs(hot(0.42, bias)).out.executors == 3


def test_a_plan_that_is_off_asks_for_more_where_more_help() -> None:
    assert needs(hot(0.02, 1.6)).out.executors > needs(hot(0.02, 1.0)).out.executors


def test_where_one_key_group_is_too_long_for_any_number_of_executors_more_are_proposed() -> None:
    """The hot key group alone takes 13 s of 10: twice as many would halve it, if several keys share it."""
    view, model = hot(0.7, 1.0), timed([0.1] * 64, [0] * 64)
    found, aim = needs(view).out, aim_of(view.job.spec.scaling, view.trigger_s, view.ready_s)
    assert words.more(view, found, aim, model) == MoreGroups(now=64, wanted=128, shared=True)
    assert "--key-groups 128 (in place of 64)" in words.enough(view, found, aim, model)
    few = hot(0.02, 1.0)
    assert words.more(few, needs(few).out, aim, model) is None


@pytest.mark.parametrize(("most", "named"), [(100, "--key-groups 100 (in place of 64)"), (64, None)])
def test_the_sentence_names_no_more_key_groups_than_the_policy_allows(most: int, named: str | None) -> None:
    """It says the number that the condition MoreKeyGroups says, and none where there may be no more."""
    view, model = hot(0.7, 1.0), timed([0.1] * 64, [0] * 64)
    bounded = job(("planner: greedy", f"planner: greedy\n    keyGroups: {{max: {most}}}"))
    view = dataclasses.replace(view, job=bounded)
    found, aim = needs(view).out, aim_of(view.job.spec.scaling, view.trigger_s, view.ready_s)
    said, more = words.enough(view, found, aim, model), words.more(view, found, aim, model)
    assert "key group 0 of operator 0 alone takes" in said
    assert ("--key-groups" in said, None if more is None else more.wanted) == (named is not None, named and most)
    assert named is None or named in said
