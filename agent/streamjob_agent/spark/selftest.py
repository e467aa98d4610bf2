"""Checks at start: is this a Spark whose insides the bridge knows, and may key groups be placed on it?"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from streamjob_agent.bridge import OK

# First and last minor version that the integration tests have run on; see `make test-matrix`.
TESTED_FROM = (3, 5)
TESTED_TO = (4, 3)


def check_version(version: str) -> str:
    """Whether the Spark version, for example "4.0.5", lies in the tested range."""
    found = re.match(r"(\d+)\.(\d+)", version)
    if found and TESTED_FROM <= (int(found[1]), int(found[2])) <= TESTED_TO:
        return OK
    low, high = (".".join(str(part) for part in bound) for bound in (TESTED_FROM, TESTED_TO))
    return f"Spark {version} is untested: {low} to {high} are known to work"


def check_master(master: str) -> str:
    """Whether the master gives executors of their own: with `local[...]` everything runs inside the driver."""
    if re.fullmatch(r"local(\[[^\]]*\])?", master):
        return f"master {master} runs every task inside the driver: there is no executor to move state to"
    return OK


def check_setting(conf: Mapping[str, str], key: str, why: str) -> str:
    """Whether a Boolean setting is off."""
    return f"{key} is on: {why}" if conf.get(key, "false").strip().lower() == "true" else OK


def check_leaving(conf: Mapping[str, str]) -> str:
    """How an executor is removed: it leaves by itself where it knows how to, else it is killed when it has no task."""
    key = "spark.decommission.enabled"
    if conf.get(key, "false").strip().lower() == "true":
        return OK
    return f"{OK}, but {key} is off: a drained executor is killed once it has no task, with true it would leave"


def run_checks(*, version: str, master: str, conf: Mapping[str, str], round_trip: Callable[[], Any]) -> dict[str, str]:
    """Every check by name; a check that raises says so instead of "ok"."""
    return {
        "spark_version": check_version(version),
        "separate_executors": check_master(master),
        "no_dynamic_allocation": check_setting(
            conf, "spark.dynamicAllocation.enabled", "Spark would add and remove executors against the controller"
        ),
        "no_speculation": check_setting(
            conf, "spark.speculation", "a second copy of a stateful task opens the state on another executor"
        ),
        "executors_can_leave": check_leaving(conf),
        "coordinator_round_trip": attempt(round_trip),
    }


def attempt(check: Callable[[], Any]) -> str:
    """The check's answer, or its error as one line."""
    try:
        return str(check())
    except Exception as error:  # noqa: BLE001 - any failure of a private interface is the answer of this check
        return first_lines(error)


def first_lines(error: BaseException) -> str:
    """An error's type and text, cut so that it fits into a status field."""
    text = " ".join(str(error).split())
    return f"{type(error).__name__}: {text[:300]}"
