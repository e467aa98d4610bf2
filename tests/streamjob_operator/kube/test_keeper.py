"""Turns of one StreamJob whose driver somebody else starts."""

from __future__ import annotations

from kept import Kept

from streamjob_operator.kube.kinds import ROLE_BINDINGS, ROLES


def subjects(kept: Kept) -> list[str]:
    return [one["name"] for one in kept.found(ROLE_BINDINGS, "orders-map")["subjects"]]


def test_a_driver_that_comes_after_its_job_gets_its_rights() -> None:
    kept = Kept()
    kept.look()
    assert kept.condition("Ready") == "False/ApplicationNotFound"
    assert (ROLES.plural, "n", "orders-map") not in kept.api.objects
    kept.driver(account="spark")
    kept.look()
    assert subjects(kept) == ["spark"]
    assert kept.found(ROLES, "orders-map")["rules"]


def test_a_driver_that_comes_back_under_another_account_gets_its_rights() -> None:
    kept = Kept()
    kept.driver(account="spark")
    kept.look()
    kept.driver(account="other", uid="2")
    kept.look()
    assert subjects(kept) == ["other"]


def test_rights_that_were_given_are_not_given_at_every_look() -> None:
    kept = Kept()
    kept.driver(account="spark")
    kept.look()
    kept.api.calls.clear()
    kept.look()
    assert [call for call in kept.api.calls if call[1] in (ROLES.plural, ROLE_BINDINGS.plural)] == []
