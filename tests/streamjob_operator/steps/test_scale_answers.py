"""From a rule's wish to the target: the edges of each rule, and what a person is told."""

import dataclasses

import pytest
from worlds import even, job

from streamjob_operator.scaling.rule import Fleet, Wish
from streamjob_operator.spec import StreamJob
from streamjob_operator.steps.scale import ask, decide, fleet
from streamjob_operator.values import Memory, Reason, RuleState

AUTO = job()  # 1 to 6 executors, executors are waited for for a minute
NOW_S = 1000.0
PLAIN = "executors: {min: 1, max: 6}"


def answer(wanted: int, of: Fleet, memory: Memory = Memory(), with_job: StreamJob = AUTO) -> tuple[int, Reason, str]:  # noqa: B008
    decision = decide(Wish(executors=wanted, needed=wanted, why="a test"), of, memory, with_job, NOW_S)
    return decision.target, decision.reason, decision.message


def there(ready: int, wanted: int, marked: int = 0) -> Fleet:
    return Fleet(ready=ready, wanted=wanted, marked=marked)


def told(replicas: int) -> StreamJob:
    return job((PLAIN, f"executors: {{min: 2, max: 6, replicas: {replicas}}}"))


def windowed(denied: str, least: int = 1) -> StreamJob:
    window = f'executorTimeout: 60s, windows: [{{cron: "* * * * *", duration: 1m, deny: [{denied}]}}]}}'
    return job((PLAIN, f"executors: {{min: {least}, max: 6}}"), ("executorTimeout: 60s}", window))


@pytest.mark.parametrize("since_s", [None, NOW_S - 60.0])
def test_executors_are_waited_for_until_their_time_is_over(since_s: float | None) -> None:
    waiting = (4, Reason.WAITING_FOR_EXECUTORS, "2 of 4 executors are ready.")
    assert answer(4, there(2, 4), Memory(target_since_s=since_s)) == waiting


@pytest.mark.parametrize(("ready", "left"), [(2, 2), (0, 1)])
def test_executors_that_do_not_come_in_time_are_given_up_down_to_the_fewest_allowed(ready: int, left: int) -> None:
    message = f"{4 - ready} executors did not come within 1m; going on with what is there."
    found = answer(4, there(ready, 4), Memory(target_since_s=NOW_S - 60.1))
    assert found == (left, Reason.EXECUTORS_TIMED_OUT, message)


def test_nobody_is_late_where_all_are_there() -> None:
    assert answer(4, there(4, 4), Memory(target_since_s=0.0))[1] is Reason.BALANCED


def test_after_a_retreat_more_are_asked_for_once_its_time_is_over() -> None:
    message = "4 executors are needed, but the last ones did not come; trying again in 30s."
    early = answer(4, there(2, 2), Memory(retreat_until_s=NOW_S + 30.0))
    assert early == (2, Reason.EXECUTORS_TIMED_OUT, message)
    grown = (4, Reason.SCALE_OUT, "4 executors in place of 2: a test.")
    assert answer(4, there(2, 2), Memory(retreat_until_s=NOW_S)) == grown


def test_a_window_keeps_a_job_from_growing_but_not_from_its_fewest_executors() -> None:
    message = "4 executors would fit, but the window '* * * * *' forbids the change."
    assert answer(4, there(2, 2), with_job=windowed("ScaleUp", 2)) == (2, Reason.WINDOW_DENIES, message)
    assert answer(4, there(2, 2), with_job=windowed("ScaleUp", 3))[:2] == (4, Reason.SCALE_OUT)
    assert answer(4, there(2, 2), with_job=windowed("ScaleDown"))[:2] == (4, Reason.SCALE_OUT)


def test_a_window_keeps_a_job_from_shrinking() -> None:
    message = "1 executor would fit, but the window '* * * * *' forbids the change."
    assert answer(1, there(2, 2), with_job=windowed("ScaleDown")) == (2, Reason.WINDOW_DENIES, message)
    assert answer(1, there(2, 2), with_job=windowed("ScaleUp"))[:2] == (1, Reason.SCALE_IN)


def test_a_window_keeps_those_that_came_after_they_were_given_up() -> None:
    message = "3 executors would fit, but the window '* * * * *' forbids the change."
    assert answer(3, there(4, 3), with_job=windowed("ScaleDown")) == (3, Reason.WINDOW_DENIES, message)
    assert answer(3, there(4, 3), with_job=windowed("ScaleUp"))[:2] == (3, Reason.SCALE_IN)


def test_one_drain_at_a_time() -> None:
    message = "1 executor is being drained; no other is marked before."
    assert answer(1, there(2, 2, 1)) == (2, Reason.DRAINING, message)


def test_executors_beyond_those_wanted_leave_once_nothing_drains() -> None:
    message = "4 executors are there, 3 wanted."
    assert answer(3, there(4, 3)) == (3, Reason.SCALE_IN, message)
    assert answer(1, there(4, 3)) == (3, Reason.SCALE_IN, message)
    assert answer(3, there(4, 3, 1)) == (3, Reason.BALANCED, "3 executors fit: a test.")


def test_none_leaves_soon_after_measurements_were_missing_for_long_unless_somebody_says_so() -> None:
    quiet = Memory(quiet_until_s=NOW_S + 60.0)
    message = "1 executor would do (a test); measurements were missing for long, so none leaves for another 1m."
    assert answer(1, there(2, 2), quiet) == (2, Reason.STABILIZING, message)
    surplus = "3 executors would do (a test); measurements were missing for long, so none leaves for another 1m."
    assert answer(5, there(7, 3), quiet)[1] is Reason.SCALE_OUT
    assert answer(3, there(4, 3), quiet) == (3, Reason.STABILIZING, surplus)
    assert answer(2, there(3, 3), quiet, told(2))[:2] == (2, Reason.SCALE_IN)


def test_more_than_may_be_is_no_number_that_fits() -> None:
    message = "6 executors stay: a test; 9 are needed, and executors.max is 6."
    assert answer(9, there(6, 6)) == (6, Reason.NOT_ENOUGH, message)
    assert answer(6, there(6, 6)) == (6, Reason.BALANCED, "6 executors fit: a test.")


def test_that_no_fewer_may_be_is_said_where_fewer_would_do() -> None:
    least = job((PLAIN, "executors: {min: 4, max: 6}"))
    grown = (4, Reason.SCALE_OUT, "4 executors in place of 3: a test; executors.min is 4.")
    assert answer(1, there(3, 3), with_job=least) == grown
    assert answer(1, there(4, 4), with_job=least)[2] == "4 executors fit: a test; executors.min is 4."
    assert answer(4, there(4, 4), with_job=least)[2] == "4 executors fit: a test."


@pytest.mark.parametrize(("wanted", "bound"), [(6, "; executors.max is 6"), (3, "")])
def test_what_no_number_of_executors_is_enough_for_does_not_fit(wanted: int, bound: str) -> None:
    wish = Wish(executors=wanted, needed=wanted, why="a test", enough=False)
    decision = decide(wish, there(wanted, wanted), Memory(), AUTO, NOW_S)
    message = f"{wanted} executors stay: a test{bound}."
    assert (decision.target, decision.reason, decision.message) == (wanted, Reason.NOT_ENOUGH, message)


def test_scaling_that_is_off_keeps_what_is_wanted_and_says_so() -> None:
    off = job(("scaling: {mode: Auto", "scaling: {mode: 'Off'"))
    assert answer(5, there(2, 3), with_job=off) == (3, Reason.MODE_OFF, "Scaling is off.")


def test_the_need_is_told_beside_the_target() -> None:
    wish = Wish(executors=3, needed=5, why="a test", held="waiting")
    decision = decide(wish, there(3, 3), Memory(), AUTO, NOW_S)
    assert (decision.needed, decision.target, decision.told) == (5, 3, False)
    assert (decision.reason, decision.message) == (Reason.STABILIZING, "5 executors would do (a test); waiting.")


def test_somebody_elses_number_is_told_as_such() -> None:
    decision = decide(Wish(executors=3, needed=3, why="w"), there(3, 3), Memory(), told(3), NOW_S)
    assert (decision.reason, decision.told) == (Reason.REPLICAS_SET, True)
    grows = decide(Wish(executors=4, needed=4, why="w"), there(3, 3), Memory(), told(4), NOW_S)
    assert (grows.reason, grows.told) == (Reason.SCALE_OUT, True)


@dataclasses.dataclass
class Rule:
    """Wishes for two, and shows what it was handed."""

    name: str = "own"
    handed: object = "nothing yet"

    def decide(self, situation: object, state: object) -> tuple[Wish, dict[str, int]]:
        self.handed = state
        return Wish(executors=2, needed=2, why="w"), {"seen": 1}


@dataclasses.dataclass
class Asked:
    """As much of a situation as is asked for."""

    job: StreamJob
    memory: Memory


@pytest.mark.parametrize(
    ("before", "handed"),
    [
        (None, None),
        (RuleState(rule="another", state={"seen": 7}), None),
        (RuleState(rule="own", state={"a": 1}), {"a": 1}),
    ],
)
def test_a_rule_is_handed_its_own_state_alone(before: RuleState | None, handed: object) -> None:
    rule = Rule()
    wish, state = ask(rule, Asked(AUTO, Memory(scaling=before)))  # type: ignore[arg-type]
    assert (wish.executors, state, rule.handed) == (2, RuleState(rule="own", state={"seen": 1}), handed)


@pytest.mark.parametrize(
    ("replicas", "executors", "why"),
    [
        (4, 4, "spec.executors.replicas is 4"),
        (9, 6, "spec.executors.replicas is 9, and 6 is what min and max allow"),
        (0, 2, "spec.executors.replicas is 0, and 2 is what min and max allow"),
    ],
)
def test_no_rule_is_asked_where_somebody_else_sets_the_number(replicas: int, executors: int, why: str) -> None:
    rule = Rule()
    memory = Memory(scaling=RuleState(rule="own", state={}))
    wish, state = ask(rule, Asked(told(replicas), memory))  # type: ignore[arg-type]
    assert (wish, state, rule.handed) == (Wish(executors=executors, needed=executors, why=why), None, "nothing yet")


def test_executors_are_counted_ready_and_unmarked() -> None:
    world = even(4, 1, 5.0)
    world.executors["3"] = "starting"
    snapshot = world.observe(NOW_S, 10.0)
    assert fleet(snapshot, Memory()) == there(3, 3)
    assert fleet(snapshot, Memory(marked=("0",), executors_target=5)) == there(2, 5, 1)
