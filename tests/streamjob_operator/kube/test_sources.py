"""Where measurements come from, when the way there is barred."""

from __future__ import annotations

from agent_reports import agent
from kept import Kept

from streamjob_operator.kube.kinds import SECRETS
from streamjob_operator.kube.refusals import Refused

LOCKED = {"prometheus": {"url": "http://127.0.0.1:9", "auth": {"secretRef": {"name": "login"}}}}


def test_a_secret_that_may_not_be_read_is_told_in_a_condition() -> None:
    kept = Kept(metrics=LOCKED)
    kept.driver()
    kept.look()
    kept.reports(agent())

    def forbid(name: str) -> None:
        if name == "login":
            raise Refused(403, "Forbidden", 'secrets "login" is forbidden')

    kept.api.before["get"] = forbid
    kept.look()
    assert ("get", SECRETS.plural) in kept.api.calls
    assert kept.condition("MetricsAvailable") == "False/PrometheusDenied"
    assert any('secrets "login" is forbidden' in one["message"] for one in kept.status()["conditions"])
