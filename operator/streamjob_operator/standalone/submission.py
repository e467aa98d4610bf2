"""How the user's script is started: the command, its environment, the Spark settings of the job."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Mapping
from pathlib import Path

from streamjob_operator.spec import Application, dependencies, program

STOP_GRACE_S = 60.0
"""Time for a query to come to the end of its batch when it is stopped. Only where the job names its checkpoint: another
number of key groups needs a query that was stopped between two batches."""


def command(application: Application) -> list[str]:
    """`python -m streamjob_agent run FILE ARGS`; a local:// path is a path on this machine."""
    return [sys.executable, "-m", "streamjob_agent", "run", *program.words(application)]


def repartition(application: Application, key_groups: int | None) -> list[str]:
    """The change of the key groups of its stopped query; without a number the way back."""
    if application.checkpoint is None:
        raise ValueError("checkpoint: None given, the state is changed there")
    what = ["--undo"] if key_groups is None else ["--key-groups", str(key_groups)]
    return [sys.executable, "-m", "streamjob_agent", "repartition", application.checkpoint, *what]


def environment(
    application: Application, address_file: Path, state_dir: Path, inherited: Mapping[str, str]
) -> dict[str, str]:
    """The driver's environment: where the agent reports itself, and the job's Spark settings."""
    settings = spark_settings(application)
    added = {
        "STREAMJOB_AGENT_ADDRESS_FILE": str(address_file.resolve()),
        "STREAMJOB_AGENT_STATE_DIR": str(state_dir.resolve()),
        "PYSPARK_SUBMIT_ARGS": submit_args(settings),
        "PYTHONUNBUFFERED": "1",
    }
    orderly = {}
    if application.checkpoint is not None:
        added["STREAMJOB_CHECKPOINT"] = application.checkpoint
        orderly["STREAMJOB_AGENT_STOP_GRACE_S"] = f"{STOP_GRACE_S:g}"
    return {**orderly, **_for_spark(settings, inherited), **added}


def repartition_environment(application: Application, inherited: Mapping[str, str]) -> dict[str, str]:
    """The same Spark settings, but all in one process: the state is read and written by whoever has the copy."""
    settings = {**spark_settings(application), "spark.master": "local[*]"}
    return {**_for_spark(settings, inherited), "PYSPARK_SUBMIT_ARGS": submit_args(settings), "PYTHONUNBUFFERED": "1"}


def _for_spark(settings: Mapping[str, str], inherited: Mapping[str, str]) -> dict[str, str]:
    """What is inherited, with what PySpark needs on one machine."""
    near = settings.get("spark.master", "local").startswith("local")
    address = {"SPARK_LOCAL_IP": "127.0.0.1"} if near else {}
    return {"PYSPARK_PYTHON": sys.executable, **address, **inherited}


def spark_settings(application: Application) -> dict[str, str]:
    """Sizes and dependencies that the job states, above them its own settings; the agent adds what is in neither."""
    sizes: dict[str, str] = {}
    for role, pod in (("driver", application.driver), ("executor", application.executor)):
        stated = pod.model_fields_set
        sizes.update({f"spark.{role}.cores": str(pod.cores)} if "cores" in stated else {})
        sizes.update({f"spark.{role}.memory": pod.memory} if "memory" in stated else {})
    return {**sizes, **dependencies.settings(application.deps), **application.spark_conf}


def submit_args(settings: Mapping[str, str]) -> str:
    """What pyspark hands to spark-submit; it splits the text like a shell."""
    words = [word for name, value in sorted(settings.items()) for word in ("--conf", f"{name}={value}")]
    return shlex.join([*words, "pyspark-shell"])
