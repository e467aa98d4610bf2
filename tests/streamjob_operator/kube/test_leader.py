"""One lease, several operators, clocks that do not agree."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import pytest
from fake_api import FakeApi, once

from streamjob_operator.kube.api.kinds import LEASES
from streamjob_operator.kube.api.refusals import Refused
from streamjob_operator.kube.process.leader import Election, Terms, keep_lease, wait_for_lease
from streamjob_operator.ports import Unavailable

TERMS = Terms(lease_s=15.0, renew_s=10.0, retry_s=2.0)


class Clock:
    def __init__(self) -> None:
        self.now_s = 0.0

    def __call__(self) -> float:
        return self.now_s

    def over_after(self, seconds: float) -> Callable[[float], bool]:
        """Waiting that takes no time; over once so much has passed."""

        def over(wait_s: float) -> bool:
            self.now_s += wait_s
            return self.now_s >= seconds

        return over


@pytest.fixture
def api() -> FakeApi:
    return FakeApi()


@pytest.fixture
def clock() -> Clock:
    return Clock()


def candidate(api: FakeApi, clock: Clock, name: str) -> Election:
    return Election(api, "n", "lease", name, TERMS, clock)  # type: ignore[arg-type]


def spec(api: FakeApi) -> dict[str, Any]:
    found: dict[str, Any] = api.objects[("leases", "n", "lease")]["spec"]
    return found


def test_the_first_one_leads_and_the_other_waits(api: FakeApi, clock: Clock) -> None:
    one, other = candidate(api, clock, "one"), candidate(api, clock, "other")
    assert one.hold()
    for _ in range(20):
        clock.now_s += 5.0
        assert one.hold()
        assert not other.hold()
    assert spec(api)["holderIdentity"] == "one"
    assert spec(api)["leaseTransitions"] == 0


def test_a_leader_that_is_gone_is_replaced_after_its_lease_and_not_before(api: FakeApi, clock: Clock) -> None:
    one, other = candidate(api, clock, "one"), candidate(api, clock, "other")
    assert one.hold()
    assert not other.hold()  # sees the record for the first time now
    clock.now_s = 14.9
    assert not other.hold()
    clock.now_s = 15.1
    assert other.hold()
    assert spec(api)["leaseTransitions"] == 1
    assert not one.hold()


def test_a_released_lease_is_taken_at_once(api: FakeApi, clock: Clock) -> None:
    one, other = candidate(api, clock, "one"), candidate(api, clock, "other")
    assert one.hold()
    other.release()  # not its own: nothing happens
    assert not other.hold()
    one.release()
    assert other.hold()


def test_of_two_that_want_it_at_the_same_moment_one_gets_it(api: FakeApi, clock: Clock) -> None:
    one, other = candidate(api, clock, "one"), candidate(api, clock, "other")
    results: list[bool] = []
    api.before["create"] = once(lambda: results.append(other.hold()))
    results.append(one.hold())
    assert results == [True, False]
    clock.now_s = 20.0
    assert not one.hold()
    clock.now_s = 40.0
    api.before["patch"] = once(lambda: results.append(other.hold()))
    results.append(one.hold())
    assert results == [True, False, True, False]


def test_waiting_ends_with_the_lease_or_with_the_process(api: FakeApi, clock: Clock) -> None:
    one, other = candidate(api, clock, "one"), candidate(api, clock, "other")
    told: list[str] = []
    assert wait_for_lease(one, clock.over_after(1e9), told.append)
    assert not wait_for_lease(other, clock.over_after(10.0), told.append)
    assert told == ["Another operator holds the lease; waiting."]
    assert wait_for_lease(other, clock.over_after(1e9), told.append)


def test_a_refusal_does_not_end_the_waiting_and_is_told_once_for_as_long_as_it_lasts(
    api: FakeApi, clock: Clock
) -> None:
    """An API server that has just begun knows no roles yet; a role that lacks is given by somebody."""
    told: list[str] = []
    left = [Refused(403, "Forbidden", "leases is forbidden")] * 3

    def refuse(_: str) -> None:
        if left:
            told.append("asked")
            raise left.pop()

    api.before["get"] = refuse
    assert wait_for_lease(candidate(api, clock, "one"), clock.over_after(1e9), told.append)
    assert told == ["asked", "leases is forbidden", "asked", "asked"]


def test_a_lease_that_cannot_be_renewed_is_given_up_before_another_may_take_it(api: FakeApi, clock: Clock) -> None:
    one = candidate(api, clock, "one")
    assert one.hold()

    def down(_: str) -> None:
        raise Unavailable("down")

    api.before["get"] = down
    assert not keep_lease(one, clock.over_after(1e9), clock)
    assert TERMS.renew_s <= clock.now_s < TERMS.lease_s


def test_an_attempt_that_hangs_is_not_waited_for() -> None:
    api = FakeApi()
    one = Election(api, "n", "lease", "one", Terms(lease_s=1.5, renew_s=0.5, retry_s=0.1))  # type: ignore[arg-type]
    assert one.hold()
    answered = threading.Event()

    def hang(_: str) -> None:
        answered.wait(60.0)

    api.before["get"] = hang
    assert not keep_lease(one, lambda _: False)
    assert not answered.is_set()
    answered.set()


def test_a_short_outage_does_not_cost_the_lease(api: FakeApi, clock: Clock) -> None:
    one = candidate(api, clock, "one")
    assert one.hold()

    def flaky(_: str) -> None:
        if int(clock.now_s) % 6:
            raise Unavailable("down")

    api.before["get"] = flaky
    assert keep_lease(one, clock.over_after(100.0), clock)


def test_the_lease_is_counted_from_before_it_was_asked_for(api: FakeApi, clock: Clock) -> None:
    """Another one sees the renewal when the API server has it, which may be long before we hear of it."""
    one = candidate(api, clock, "one")
    assert one.hold()
    waits: list[float] = []

    def slow(_: str) -> None:
        clock.now_s += 9.0

    def over(wait_s: float) -> bool:
        waits.append(wait_s)
        clock.now_s += wait_s
        return len(waits) == 2

    api.before["patch"] = slow
    assert keep_lease(one, over, clock)
    assert waits == [TERMS.retry_s, 1.0]


@pytest.mark.parametrize("terms", [(1.0, 2.0, 3.0), (15.0, 15.0, 2.0), (15.0, 10.0, 0.0)])
def test_terms_that_cannot_work(terms: tuple[float, float, float]) -> None:
    with pytest.raises(ValueError, match="retry_s < renew_s < lease_s"):
        Terms(lease_s=terms[0], renew_s=terms[1], retry_s=terms[2])


def test_a_renewal_that_arrived_after_it_was_given_up_does_not_cost_the_lease(api: FakeApi, clock: Clock) -> None:
    """A slow API server writes the renewal that we gave up between our next look and our next write."""
    one, other = candidate(api, clock, "one"), candidate(api, clock, "other")
    assert one.hold()
    late = api.objects["leases", "n", "lease"]
    api.before["patch"] = once(lambda: api.put(LEASES, late))
    assert keep_lease(one, clock.over_after(9.0), clock)
    assert not other.hold()


def test_a_refusal_that_passes_does_not_cost_the_lease(api: FakeApi, clock: Clock) -> None:
    """An API server that has just begun knows no roles yet, and refuses everybody."""
    one = candidate(api, clock, "one")
    assert one.hold()

    def refuse() -> None:
        raise Refused(403, "Forbidden", "leases is forbidden: RBAC: roles are not there yet")

    api.before["get"] = once(refuse)
    assert keep_lease(one, clock.over_after(9.0), clock)
