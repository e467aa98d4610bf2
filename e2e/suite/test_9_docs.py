"""The pages for users: their commands, typed as they are written, in the order in which a reader comes to them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from e2e.suite import steps
from e2e.suite.claims import A_PLAN, ON_A_JOB, documented_by, documents, on_a_job
from e2e.suite.evidence import Sayer
from e2e.suite.feed import QUIET, RUSH, Feed
from e2e.suite.job import Job, condition, settled
from e2e.suite.shell import Shell
from e2e.suite.world import ROOT, World, config_map, filled

DEMO, ORDERS = "demo", "orders-recommend"
COMES_S, PLAN_S, BALANCED_S, STOP_S = 60.0, 120.0, 240.0, 120.0
MAKE_NAMESPACE = "kubectl create namespace demo"
APPLY = "kubectl --namespace demo apply -f samples/streamjobs/recommend.yaml"
WATCH = "kubectl --namespace demo get streamjobs --watch"
WAIT = "kubectl --namespace demo wait --for=condition=Ready streamjob/orders-recommend --timeout=5m"
IMPORT = "streamjob import sparkapplication.yaml -o job.yaml"
VALIDATE = "streamjob validate job.yaml"
EXPLAIN = "kubectl streamjob explain orders-recommend --namespace demo"
PLAN = "kubectl streamjob plan orders-recommend --namespace demo"
ACT = (
    "kubectl --namespace demo patch streamjob orders-recommend --type=merge "
    """-p '{"spec":{"balancing":{"mode":"Auto"},"scaling":{"mode":"Auto"}}}'"""
)
APPROVE = "kubectl streamjob approve NAME"
LOGS = "kubectl logs NAME-driver"
SUSPEND = """kubectl patch streamjob NAME --type=merge -p '{"spec":{"suspend":true}}'"""


@pytest.fixture(scope="module")
def terminal(installed: World, tmp_path_factory: pytest.TempPathFactory) -> Shell:
    """One terminal for all pages."""
    repository, _, tag = installed.images.operator.rpartition(":")
    words = {"NAME": ORDERS, "NEW": tag, "registry.example/streamjob-operator": repository, "0.1.0": tag}
    return Shell(tmp_path_factory.mktemp("reader"), installed.kubeconfig, installed.helm_program, words, DEMO)


@pytest.fixture
def shell(request: pytest.FixtureRequest, terminal: Shell) -> Iterator[Shell]:
    """The terminal; the case must run every command that it says it documents."""
    yield terminal
    assert set(documented_by(request.function)) <= set(terminal.ran)


@pytest.fixture(scope="module")
def orders(installed: World, terminal: Shell) -> Iterator[Job]:
    """The first job's namespace with a volume and scans; the reader's own image, script and pods in its sample."""
    terminal(MAKE_NAMESPACE)
    terminal.kubectl.wait_for_account()
    volume = installed.volume(terminal.kubectl, DEMO)
    terminal.kubectl.apply(config_map("app", job__py=ROOT / "samples" / "demo" / "job.py"))
    _edit(terminal.folder / "samples" / "streamjobs" / "recommend.yaml", installed.images.agent)
    feed = Feed(volume)
    feed.start()
    yield Job(terminal.kubectl, volume, feed, ORDERS)
    feed.end()


def _edit(sample: Path, image: str) -> None:
    """Replace image and script, as the page says; and plan often, on as few executors as two cores can start."""
    document = yaml.safe_load(sample.read_text(encoding="utf-8"))
    document["spec"]["application"] = yaml.safe_load(filled("parcels.yaml", AGENT_IMAGE=image))["spec"]["application"]
    document["spec"]["balancing"] |= {"statisticsPeriod": "10s", "maxLoadDistance": 12}
    document["spec"]["executors"] = {"min": 2, "max": 2}
    sample.write_text(yaml.safe_dump(document), encoding="utf-8")


@documents(MAKE_NAMESPACE, APPLY, WATCH, WAIT, EXPLAIN, PLAN, ACT)
def test_the_page_of_the_first_job(orders: Job, shell: Shell, say: Sayer) -> None:
    assert "created" in shell(APPLY)
    shell.until(WATCH, ORDERS, COMES_S)
    assert "condition met" in shell(WAIT)
    generation = orders.map()["spec"].get("generation")
    orders.until(lambda one: one.get("lastCycle", {}).get("id"), PLAN_S, "a cycle")
    assert ORDERS in shell(EXPLAIN)
    assert re.search(A_PLAN.replace("NAME", ORDERS), shell(PLAN))
    assert orders.map()["spec"].get("generation") == generation
    shell(ACT)
    status = orders.until(settled(2), BALANCED_S, "balanced on two executors")
    say(f"load distance {status['load'].get('distance')}")


@documents(*ON_A_JOB, LOGS)
def test_looking_at_a_job_and_pausing_it(orders: Job, shell: Shell) -> None:
    on_a_job(shell)
    assert "INFO" in shell(LOGS) or "WARN" in shell(LOGS)
    orders.until(lambda one: condition(one, "Ready").startswith("True"), PLAN_S, "still Ready")


def more_wait(status: dict[str, Any]) -> bool:
    """Whether the newest plan that waits wants more executors than there are."""
    return any(one["executors"] > 2 and "until" not in one for one in status.get("approvable", ()))


@documents(APPROVE)
def test_a_plan_is_approved(orders: Job, shell: Shell) -> None:
    approve = {"mode": "Approve"}
    orders.patch({"executors": {"max": 4}, "balancing": approve, "scaling": approve})
    orders.feed.rate = RUSH
    orders.until(more_wait, PLAN_S, "a plan of more executors that waits")
    assert "is approved" in shell(APPROVE)  # the load still rises: what was shown is started all the same
    orders.until(lambda one: one["executors"]["target"] > 2, PLAN_S, "the approved executors")
    orders.feed.rate = QUIET


@documents(steps.SCALE)
def test_a_number_of_executors_by_hand(orders: Job, shell: Shell) -> None:
    steps.scale(shell)


@documents(SUSPEND)
def test_a_job_is_suspended_and_goes_on(orders: Job, shell: Shell, say: Sayer) -> None:
    shell(SUSPEND)
    orders.until(lambda one: one.get("phase") == "Suspended" and not orders.pods("driver"), STOP_S, "suspended")
    shell(SUSPEND.replace("true", "false"))
    orders.until(lambda one: condition(one, "Ready").startswith("True"), BALANCED_S, "Ready again")
    say(orders.require_exact())


@documents(*steps.SAMPLES)
def test_the_samples_of_adopted_jobs_are_taken(orders: Job, shell: Shell) -> None:
    for command, name in steps.SAMPLES.items():
        assert "created" in shell(command)
        Job(orders.kubectl, orders.volume, orders.feed, name).until(
            lambda one: condition(one, "Ready") == "False/ApplicationNotFound", COMES_S, f"{name} finds no driver"
        )


@documents(steps.UPGRADE, steps.ROLLBACK)
def test_upgrading_and_going_back(orders: Job, shell: Shell) -> None:
    pods = orders.pods("driver") | orders.pods("executor")
    steps.upgrade_and_roll_back(shell)
    assert orders.pods("driver") | orders.pods("executor") == pods


@documents(*steps.OPTIONS)
def test_options_of_the_page(shell: Shell) -> None:
    steps.options(shell)


@documents(steps.UNINSTALL, steps.LET_GO)
def test_a_job_is_let_go_without_an_operator(orders: Job, shell: Shell) -> None:
    steps.let_go_without_an_operator(shell, "payments")


@documents(steps.INSTALL, steps.TEST)
def test_installing_again_as_the_page_says(orders: Job, shell: Shell) -> None:
    cycle = orders.status()["lastCycle"]["id"]
    steps.install(shell)
    orders.until(lambda one: one["lastCycle"]["id"] != cycle, BALANCED_S, "a cycle of the new operator")
    assert "Phase:          Succeeded" in shell(steps.TEST)


@documents(steps.DELETE_JOBS, steps.INSTALL_ELSEWHERE, steps.DELETE_CRDS)
def test_everything_is_taken_away(orders: Job, shell: Shell) -> None:
    steps.take_away(shell)
    assert not orders.pods("driver")


@documents(IMPORT, VALIDATE)
def test_a_spark_application_becomes_a_stream_job(shell: Shell) -> None:
    source = ROOT / "tests" / "data" / "sparkapplications" / "kubeflow-kafka.yaml"
    (shell.folder / "sparkapplication.yaml").write_bytes(source.read_bytes())
    shell(IMPORT)
    assert "clicks is a valid StreamJob." in shell(VALIDATE)
