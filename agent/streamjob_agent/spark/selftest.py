"""Checks at start: is this a Spark whose insides the bridge knows, and may key groups be placed on it?"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from streamjob_agent.bridge import OK

# First and last minor version that the integration tests have run on; see `make test-matrix`.
TESTED_FROM = (3, 5)
TESTED_TO = (4, 3)
_LEFT_OUT = {(3, 5): "far state of joins is loaded by a move's first task: Spark 3.5 does not tell its schemas"}
"""What is not opened ahead of a move, by minor version."""


def check_version(version: str) -> str:
    """Whether the Spark version, for example "4.0.5", lies in the tested range."""
    if TESTED_FROM <= _minor(version) <= TESTED_TO:
        return OK
    low, high = (".".join(str(part) for part in bound) for bound in (TESTED_FROM, TESTED_TO))
    return f"Spark {version} is untested: {low} to {high} are known to work"


def _minor(version: str) -> tuple[int, int]:
    """Of "4.0.5" (4, 0); (0, 0) where it is not told."""
    found = re.match(r"(\d+)\.(\d+)", version)
    return (int(found[1]), int(found[2])) if found else (0, 0)


def check_master(master: str) -> str:
    """Whether the master gives executors of their own: with `local[...]` everything runs inside the driver."""
    if re.fullmatch(r"local(\[[^\]]*\])?", master):
        return f"master {master} runs every task inside the driver: there is no executor to move state to"
    return OK


def check_setting(conf: Mapping[str, str], key: str, why: str) -> str:
    """Whether a Boolean setting is off."""
    return f"{key} is on: {why}" if _says(conf, key, "true") else OK


def _says(conf: Mapping[str, str], key: str, value: str) -> bool:
    """Whether a Boolean setting is given, and so."""
    return conf.get(key, "").strip().lower() == value


def check_leaving(conf: Mapping[str, str]) -> str:
    """Whether an executor whose node is drained tells the driver; those that a controller removes leave in any case."""
    key = "spark.decommission.enabled"
    if _says(conf, key, "true"):
        return OK
    return f"{OK}, but {key} is off: an executor whose node is drained is lost unannounced, with true it would say so"


def check_wait(conf: Mapping[str, str]) -> str:
    """Whether the job has its own wait for a task's executor, which is then kept."""
    key = "spark.locality.wait.process"
    if key not in conf:
        return OK
    return f"{OK}, but {key}={conf[key]} is the job's own: a task that would wait longer takes its state away"


def check_joins(conf: Mapping[str, str], version: str) -> str:
    """Whether a join's key groups may be opened elsewhere in any batch: not all where Spark 3.5 compares schemas.

    An inner join's keys are never null in the plan of a batch, but of a side that has no rows and no watermark, whose
    plan is emptied. 3.5 stores what partition 0 was opened with first, and compares wherever it is opened first later.
    """
    key = "spark.sql.streaming.stateStore.stateSchemaCheck"
    if _minor(version) != (3, 5) or _says(conf, key, "false"):
        return OK
    return (
        f"{OK}, but with Spark 3.5 partition 0 of a join stays on its executor while that stays: once it was opened "
        "elsewhere, an inner join without watermarks fails in a batch that has rows of one side alone, and after a "
        f"restart again; {key}=false keeps Spark from comparing schemas"
    )


def check_ahead(version: str, offer: Callable[[], object]) -> str:
    """Whether state can be opened ahead of a move's first task; `offer` makes it so, or raises."""
    why = check_version(version)
    if why == OK:
        try:
            offer()
        except Exception as error:  # noqa: BLE001 - any failure of a private interface is the answer of this check
            why = first_lines(error)
    if why != OK:
        return f"{OK}, but far state is loaded by a move's first task: {why}"
    left_out = _LEFT_OUT.get(_minor(version))
    return f"{OK}, but {left_out}" if left_out else OK


def needless(conf: Mapping[str, str], version: str) -> str | None:
    """Why actuation will stay off, as far as is known before a session exists; None when nothing speaks for it."""
    checks = (check_version(version), check_master(conf.get("spark.master", "")), *_switches(conf))
    return next((answer for answer in checks if answer != OK), None)


def _switches(conf: Mapping[str, str]) -> tuple[str, str]:
    return (
        check_setting(
            conf, "spark.dynamicAllocation.enabled", "Spark would add and remove executors against the controller"
        ),
        check_setting(
            conf, "spark.speculation", "a second copy of a stateful task opens the state on another executor"
        ),
    )


def run_checks(
    *,
    version: str,
    master: str,
    conf: Mapping[str, str],
    round_trip: Callable[[], Any],
    offer_ahead: Callable[[], object],
) -> dict[str, str]:
    """Every check by name; a check that raises says so instead of "ok"."""
    no_allocation, no_speculation = _switches(conf)
    return {
        "spark_version": check_version(version),
        "separate_executors": check_master(master),
        "no_dynamic_allocation": no_allocation,
        "no_speculation": no_speculation,
        "locality_wait": check_wait(conf),
        "executors_can_leave": check_leaving(conf),
        "coordinator_round_trip": attempt(round_trip),
        "state_ahead": check_ahead(version, offer_ahead),
        "joins": check_joins(conf, version),
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
