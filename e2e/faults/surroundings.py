"""What surrounds an operator goes wrong: a webhook of somebody else, the API server, its etcd, its own share of CPU."""

from __future__ import annotations

import contextlib
import os
import signal
import time
from concurrent.futures import Future, ThreadPoolExecutor

from e2e.cluster.process import Process
from e2e.faults.case import Case, Tools, acting, begin
from e2e.faults.stage import Stage, until

NOBODY = "https://127.0.0.1:1/"
TOLD_S = 150.0
"""Half a minute of failures is told; a busy machine takes its time."""
RENEWED_S = 12.0
"""By then a lease was renewed, or its holder has ended."""
TURN_S, SHARE, STARVED_S = 0.2, 0.1, 20.0
SLOW_TURN_S, SLOW_SHARE, SLOW_S = 2.0, 0.1, 30.0
"""A disk that is too slow for etcd: what is written waits for up to 1.8 s, again and again."""
HANGS_S = 20.0


def _webhook(stage: Stage, _: Tools) -> str:
    """Nobody answers a webhook that must approve what the operator writes; its events are not asked about."""
    begin(stage)
    acting(stage)
    stage.kubectl.apply(_configuration(stage.namespace))
    try:
        until("nobody was told", lambda: bool(_errors(stage)), TOLD_S)
        said = _errors(stage)[0]
    finally:
        stage.kubectl("delete", "validatingwebhookconfiguration", stage.namespace)
    if "webhook" not in said:
        raise TimeoutError(f"an event was posted that does not name the webhook: {said}")
    return "an event named the webhook"


def _configuration(namespace: str) -> dict[str, object]:
    hook = {
        "name": "policy.example.org",
        "clientConfig": {"url": NOBODY},
        "rules": [
            {
                "apiGroups": ["streamjob.dev"],
                "apiVersions": ["*"],
                "operations": ["CREATE", "UPDATE"],
                "resources": ["streamjobs/status", "partitionmaps"],
            }
        ],
        "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": namespace}},
        "failurePolicy": "Fail",
        "sideEffects": "None",
        "admissionReviewVersions": ["v1"],
        "timeoutSeconds": 1,
    }
    kind = {"apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingWebhookConfiguration"}
    return {**kind, "metadata": {"name": namespace}, "webhooks": [hook]}


def _errors(stage: Stage) -> list[str]:
    found = stage.kubectl.get("events.events.k8s.io", "--field-selector=reason=OperatorError")
    return [str(one.get("note")) for one in found.get("items", ())]


def _api_server_restarts(stage: Stage, tools: Tools) -> str:
    """An operator that could not renew its lease for 10 s ends itself, and its Deployment starts it again."""
    operator = begin(stage)
    acting(stage)
    tools.plane.api_server.kill()
    begun_s = time.monotonic()
    time.sleep(5.0)
    tools.plane.start_api_server()
    return f"{time.monotonic() - begun_s:.0f} s without one{_went_on(stage, operator)}"


def _starved(stage: Stage, _: Tools) -> str:
    """It and its planners run a tenth of the time, as under a CPU limit that is far too low."""
    operator = begin(stage)
    acting(stage)
    _throttle(operator, TURN_S, SHARE, STARVED_S)
    return f"ran {SHARE:.0%} of the time for {STARVED_S:.0f} s{_went_on(stage, operator)}"


def _etcd_slow(stage: Stage, tools: Tools) -> str:
    """Everything takes a second or two, which is no reason to end, to act twice, or to think that time stood still."""
    operator = begin(stage)
    acting(stage)
    with ThreadPoolExecutor(1) as beside:
        slow = beside.submit(_throttle, tools.plane.etcd, SLOW_TURN_S, SLOW_SHARE, SLOW_S)
        longest_s = _longest_read_s(stage, slow)
    return f"a read took up to {longest_s:.1f} s for {SLOW_S:.0f} s{_went_on(stage, operator)}"


def _longest_read_s(stage: Stage, slow: Future[None]) -> float:
    """Of a StreamJob, while it is slow; what it takes to begin a kubectl is in it."""
    longest_s = 0.0
    while not slow.done():
        begun_s = time.monotonic()
        stage.status()
        longest_s = max(longest_s, time.monotonic() - begun_s)
    return longest_s


def _etcd_hangs(stage: Stage, tools: Tools) -> str:
    """Nothing is read or written for longer than a lease may go without being renewed."""
    operator = begin(stage)
    acting(stage)
    _throttle(tools.plane.etcd, HANGS_S, 0.0, HANGS_S)
    return f"nothing was read or written for {HANGS_S:.0f} s{_went_on(stage, operator)}"


def _went_on(stage: Stage, operator: Process) -> str:
    """Whether it leads on; one that ended itself is started again, as a Deployment does."""
    with contextlib.suppress(TimeoutError):
        until("it leads on", lambda: operator.pid is None, RENEWED_S)
    if operator.pid is not None:
        return "; the operator led on"
    stage.operator()
    return "; the operator ended itself, and was started again"


def _throttle(process: Process, turn_s: float, share: float, lasts_s: float) -> None:
    """Let it run that share of each turn."""
    until_s = time.monotonic() + lasts_s
    while process.pid is not None and time.monotonic() < until_s:
        group = process.pid  # of its planning processes, too: it was started in a session of its own
        os.killpg(group, signal.SIGSTOP)
        time.sleep(turn_s * (1 - share))
        os.killpg(group, signal.SIGCONT)
        time.sleep(turn_s * share)


SURROUNDINGS: tuple[Case, ...] = (
    Case(name="a webhook fails until the operator has told of it", harm=_webhook),
    Case(name="API server killed and started again", harm=_api_server_restarts, alone=True),
    Case(name="etcd slow for 30 s", harm=_etcd_slow, alone=True),
    Case(name="etcd hangs for 20 s", harm=_etcd_hangs, alone=True),
    Case(name="operator starved of CPU for 20 s", harm=_starved),
)
