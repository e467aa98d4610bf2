"""The agent's Python beside a driver that is not Python's: a child of that driver, which dies with it.

The driver's plugin tells by stdin where its gateway listens, and the secret; when stdin ends, the driver has ended.
Where SIGTERM has a grace, it means the driver: its queries are stopped between two batches, then it is asked to end.
"""

from __future__ import annotations

import functools
import os
import signal
import sys
import threading
import time
from typing import Any, NoReturn

from streamjob_agent.guard import describe

LOOK_S = 0.2
"""Between two looks at whether the job has made its session."""
DETACH_S = 2.0


def live() -> NoReturn:
    """Until stdin ends. Ends with 1 where something is missing, after a sentence."""
    os.dup2(2, 1)  # the driver's stdout is the job's
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # for the driver, in whose terminal this process is, too
    port, secret = sys.stdin.readline().split()
    try:
        from streamjob_agent.plugin.agent import JvmAgent  # here: an environment may lack what it imports

        agent = JvmAgent(_gateway(int(port), secret))
        agent.stop_at_sigterm(functools.partial(_ask_to_end, os.getppid()))
        agent.prepare()
    except Exception as error:  # whatever it is, the driver must not wait for it
        raise SystemExit(f"streamjob_agent: the agent cannot work in this driver: {describe(error)}") from error
    threading.Thread(target=_await_session, args=(agent,), name="streamjob-session", daemon=True).start()
    sys.stdin.read()
    closing = threading.Thread(target=agent.close, daemon=True)
    closing.start()
    closing.join(DETACH_S)
    os._exit(0)


def _gateway(port: int, secret: str) -> Any:
    from py4j.java_gateway import GatewayParameters, JavaGateway

    where = GatewayParameters(address="127.0.0.1", port=port, auth_token=secret, auto_convert=True)
    return JavaGateway(gateway_parameters=where)


def _await_session(agent: Any) -> None:
    while not agent.found():
        time.sleep(LOOK_S)


def _ask_to_end(driver: int) -> None:
    if os.getppid() == driver:
        os.kill(driver, signal.SIGTERM)
