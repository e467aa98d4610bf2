"""What surrounds an operator goes wrong: somebody else's webhook, the API server as a whole, its own share of CPU."""

from __future__ import annotations

import contextlib
import os
import signal
import time

from e2e.cluster.process import Process
from e2e.faults.case import Case, Tools, acting, begin
from e2e.faults.stage import Stage, until

NOBODY = "https://127.0.0.1:1/"
TOLD_S = 150.0
"""Half a minute of failures is told; a busy machine takes its time."""
RENEWED_S = 12.0
"""By then a lease was renewed, or its holder has ended."""
TURN_S, SHARE, STARVED_S = 0.2, 0.1, 20.0


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
    without = f"{time.monotonic() - begun_s:.0f} s without one"
    with contextlib.suppress(TimeoutError):
        until("it leads on", lambda: operator.pid is None, RENEWED_S)
    if operator.pid is not None:
        return f"{without}; the operator led on"
    stage.operator()
    return f"{without}; the operator ended itself, and was started again"


def _starved(stage: Stage, _: Tools) -> str:
    """It and its planners run a tenth of the time, as under a CPU limit that is far too low."""
    operator = begin(stage)
    acting(stage)
    _throttle(operator)
    if operator.pid is not None:
        return f"ran {SHARE:.0%} of the time for {STARVED_S:.0f} s, and led on"
    stage.operator()  # as a Deployment does
    return f"ran {SHARE:.0%} of the time, and ended itself; started again"


def _throttle(operator: Process) -> None:
    until_s = time.monotonic() + STARVED_S
    while operator.pid is not None and time.monotonic() < until_s:
        group = operator.pid  # of its planning processes, too: it was started in a session of its own
        os.killpg(group, signal.SIGSTOP)
        time.sleep(TURN_S * (1 - SHARE))
        os.killpg(group, signal.SIGCONT)
        time.sleep(TURN_S * SHARE)


SURROUNDINGS: tuple[Case, ...] = (
    Case(name="a webhook fails until the operator has told of it", harm=_webhook),
    Case(name="API server killed and started again", harm=_api_server_restarts, alone=True),
    Case(name="operator starved of CPU for 20 s", harm=_starved),
)
