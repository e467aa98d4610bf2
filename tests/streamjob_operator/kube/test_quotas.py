"""What the jobs of a namespace hold, from their statuses and from what they were allowed since."""

from __future__ import annotations

import threading
from typing import Any

import pytest
from click.testing import CliRunner
from worlds import job

from streamjob_cli.main import main
from streamjob_operator.kube.api.kinds import STREAM_JOBS
from streamjob_operator.kube.job.quotas import ANY, Quotas
from streamjob_operator.kube.process.telemetry import Telemetry
from streamjob_operator.kube.watched.store import Store
from streamjob_operator.ports import Quota
from streamjob_operator.scaling.quota import Allowance, Claim

NAMESPACE = "streams"


class Jobs:
    """StreamJobs as watches tell of them."""

    def __init__(self, **most: int) -> None:
        self.store = Store(STREAM_JOBS)
        self.version = 0
        self.quotas = Quotas(most or {NAMESPACE: 12}, self.store)

    def put(self, name: str, *, executors: int | None = None, cycle: str = "1", **changes: Any) -> None:
        """A version of one, whose status tells so many executors; None for a status without any."""
        self.version += 1
        document: dict[str, Any] = {
            "metadata": {"namespace": NAMESPACE, "name": name, "uid": name, "resourceVersion": str(self.version)},
            "spec": {"executors": {"min": 1, "max": 20}, "scaling": {"mode": "Auto"}},
            "status": {},
        }
        if executors is not None:
            there = {"target": executors, "ready": executors, "admitted": executors}
            document["status"] = {"executors": there, "lastCycle": {"id": cycle}, "phase": "Running"}
        for part, values in changes.items():
            document[part] = {**document[part], **values}
        self.store.put(document)

    def quota(self, name: str, priority: int = 0) -> Quota:
        called = job(("name: small", f"name: {name}"), ("scaling: {", f"scaling: {{priority: {priority}, "))
        found = self.quotas.of(NAMESPACE, called)
        assert found is not None
        return found

    def ask(self, name: str, needed: int, holds: int, *, priority: int = 0, follows: bool = True) -> int:
        found = self.quota(name, priority).allow(1, needed, holds, follows=follows)
        assert isinstance(found, Allowance)
        return found.executors

    @property
    def held(self) -> int:
        return self.quotas.held()[NAMESPACE][1]


@pytest.fixture
def jobs() -> Jobs:
    found = Jobs()
    found.put("a", executors=2)
    found.put("b", executors=8)
    return found


def test_what_others_hold_is_in_their_statuses(jobs: Jobs) -> None:
    assert jobs.ask("a", 9, 2) == 4
    assert jobs.held == 12


def test_a_new_job_holds_the_fewest_that_it_starts_with(jobs: Jobs) -> None:
    jobs.put("c", spec={"executors": {"min": 2, "max": 4}})
    assert jobs.ask("a", 9, 2) == 2


def test_executors_that_are_drained_are_held(jobs: Jobs) -> None:
    there = {"target": 6, "ready": 8, "markedForRemoval": [{"id": "7"}, {"id": "8"}]}
    jobs.put("b", status={"executors": there, "phase": "Draining"})
    assert jobs.ask("a", 9, 2) == 4


@pytest.mark.parametrize(
    "rest",
    [
        {"spec": {"executors": {"min": 1, "max": 20}, "suspend": True}},
        {"metadata": {"deletionTimestamp": "2026-01-01T00:00:00Z"}},
        {"status": {"phase": "Failed", "executors": {"target": 8, "ready": 0, "admitted": 0}}},
    ],
)
def test_a_job_that_rests_holds_the_pods_that_it_still_has(jobs: Jobs, rest: dict[str, Any]) -> None:
    jobs.ask("b", 8, 8)  # what it was allowed once is over
    document = jobs.store.get(NAMESPACE, "b")
    assert document is not None
    gone = {"target": 8, "ready": 0, "admitted": 0}
    jobs.version += 1
    for part, values in ({"status": {"executors": gone, "phase": "Suspended"}} | rest).items():
        document[part] = {**document[part], **values}
    document["metadata"]["resourceVersion"] = str(jobs.version)
    jobs.store.put(document)
    assert jobs.ask("a", 12, 2) >= 11


def test_what_a_job_was_allowed_is_its_own_until_its_status_tells(jobs: Jobs) -> None:
    """Two cycles at the same time, or one whose map is written before its status."""
    assert jobs.ask("a", 9, 2) == 4
    jobs.put("c", executors=0, spec={"executors": {"min": 0, "max": 9}, "scaling": {"mode": "Auto"}})
    found = jobs.quota("c").allow(0, 5, 0, follows=True)
    assert found is not None
    assert found.executors == 0
    jobs.put("a", executors=2, cycle="2")  # its action was refused: two are free again
    found = jobs.quota("c").allow(0, 5, 0, follows=True)
    assert found is not None
    assert found.executors == 2


def test_a_job_that_only_recommends_takes_nothing_from_others(jobs: Jobs) -> None:
    assert jobs.ask("a", 9, 2, follows=False) == 4
    assert jobs.held == 10
    assert jobs.ask("b", 10, 8) == 10


def test_a_job_whose_scaling_was_turned_off_claims_what_it_has_and_not_what_it_last_asked_for(jobs: Jobs) -> None:
    """It never asks again; an operator that began anew gave the other one more."""
    jobs.ask("a", 9, 2, priority=5)
    jobs.put("a", executors=2, cycle="2", spec={"scaling": {"mode": "Off", "priority": 5}})
    assert jobs.ask("b", 11, 8) == 10
    assert jobs.held == 12


def test_a_job_that_needs_less_than_an_even_share_leaves_the_rest(jobs: Jobs) -> None:
    assert jobs.ask("b", 11, 8) == 10
    assert jobs.ask("a", 3, 2) == 2  # the other has been allowed ten
    jobs.put("b", executors=8, cycle="2")
    assert jobs.ask("a", 3, 2) == 3
    assert jobs.ask("b", 11, 8) == 9


def test_a_higher_priority_takes_what_it_needs_as_the_other_gives_it_back(jobs: Jobs) -> None:
    assert jobs.ask("a", 9, 2, priority=5) == 4
    assert jobs.ask("b", 8, 8) == 3
    jobs.put("b", executors=3, cycle="2")
    assert jobs.ask("a", 9, 4, priority=5) == 9


def test_a_job_of_before_that_is_made_again_holds_nothing_of_it(jobs: Jobs) -> None:
    jobs.ask("a", 9, 2)
    jobs.store.drop(NAMESPACE, "a", jobs.version + 1)
    jobs.version += 1
    jobs.put("a", metadata={"namespace": NAMESPACE, "name": "a", "uid": "new", "resourceVersion": "99"})
    jobs.version = 99
    assert jobs.ask("b", 12, 8) == 11


def test_a_job_whose_newest_version_is_not_known_holds_what_it_held(jobs: Jobs) -> None:
    """A write that another one was faster than puts what is known of it in doubt: its executors were given away."""
    jobs.store.doubt(NAMESPACE, "b")
    assert jobs.ask("a", 9, 2) == 4
    assert jobs.held == 12


@pytest.mark.parametrize("count", [40, 200])
def test_many_jobs_of_a_namespace_share_it_evenly_at_the_cost_of_a_reading_each(
    monkeypatch: pytest.MonkeyPatch, count: int
) -> None:
    """All need more than there is; who asks first gets most, and rounds of cycles level that."""
    jobs, read, most = Jobs(), [], 3 * count
    jobs.quotas = Quotas({NAMESPACE: most}, jobs.store)
    known = jobs.store.known
    monkeypatch.setattr(jobs.store, "known", lambda *key: read.append(key) or known(*key))
    holds = {f"job-{number:03}": 1 for number in range(count)}
    for name in holds:
        jobs.put(name, executors=1)
    for cycle in range(2, 6):
        for name, has in holds.items():
            claim = Claim(name=name, least=1, needed=9, holds=has)
            holds[name] = min(9, jobs.quotas.allow(NAMESPACE, claim, most, follows=True).executors)
            jobs.put(name, executors=holds[name], cycle=str(cycle))
            assert sum(holds.values()) <= most
    assert set(holds.values()) == {3}
    assert len(read) <= jobs.version  # a status is read once for each version, whoever asks how often


def test_a_namespace_without_a_quota_is_not_bounded() -> None:
    assert Jobs(**{"other": 3}).quotas.of(NAMESPACE, job()) is None


def test_any_other_namespace_has_that_of_the_star() -> None:
    found = Jobs(**{ANY: 3})
    found.put("a", executors=1)
    assert found.ask("a", 9, 1) == 3


def test_many_threads_never_get_more_than_there_are() -> None:
    jobs = Jobs()
    names = [f"job-{number}" for number in range(12)]
    for name in names:
        jobs.put(name, executors=1, spec={"executors": {"min": 1, "max": 20}, "scaling": {"mode": "Auto"}})
    jobs.quotas = Quotas({NAMESPACE: 30}, jobs.store)
    found: dict[str, int] = {}
    start = threading.Barrier(len(names))

    def ask(name: str) -> None:
        start.wait(30.0)
        found[name] = jobs.ask(name, 9, 1)

    threads = [threading.Thread(target=ask, args=(name,)) for name in names]
    for one in threads:
        one.start()
    for one in threads:
        one.join(30.0)
    assert sum(found.values()) == jobs.held <= 30


def test_what_is_held_is_on_the_operators_page(jobs: Jobs) -> None:
    telemetry = Telemetry()
    telemetry.watch_quotas(jobs.quotas.held)
    assert b"executor_quota_held{" not in telemetry.page()
    jobs.ask("a", 9, 2)
    page = telemetry.page().decode()
    assert 'streamjob_operator_executor_quota{job_namespace="streams"} 12.0' in page
    assert 'streamjob_operator_executor_quota_held{job_namespace="streams"} 12.0' in page


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("streams", "'streams' given; NAMESPACE=EXECUTORS is needed, with 1 to 1,000,000 executors."),
        ("streams=0", "'streams=0' given; NAMESPACE=EXECUTORS is needed"),
        ("streams=x", "'streams=x' given; NAMESPACE=EXECUTORS is needed"),
        ("=3", "'=3' given; NAMESPACE=EXECUTORS is needed"),
        ("a=3", "'a=3' given; a has 2 already."),
    ],
)
def test_a_quota_that_is_none_gets_a_sentence(given: str, said: str) -> None:
    done = CliRunner().invoke(main, ["operator", "--executor-quota", "a=2", "--executor-quota", given])
    assert done.exit_code == 2
    assert said in " ".join(done.stderr.replace("│", " ").split())
