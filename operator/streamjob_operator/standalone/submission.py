"""How the user's script is started: the command, its environment, the Spark settings of the job."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Mapping
from pathlib import Path

from streamjob_operator.spec import Application, dependencies


def command(application: Application) -> list[str]:
    """`python -m streamjob_agent run FILE ARGS`; a local:// path is a path on this machine."""
    options = dependencies.runner_options(application.deps)
    return [sys.executable, "-m", "streamjob_agent", "run", *options, main_file(application), *application.args]


def main_file(application: Application) -> str:
    """The script's path on this machine, or the address that Spark fetches it from."""
    return application.main_file.removeprefix("local://")


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
    if application.checkpoint is not None:
        added["STREAMJOB_CHECKPOINT"] = application.checkpoint
    if settings.get("spark.master", "local").startswith("local") and "SPARK_LOCAL_IP" not in inherited:
        added["SPARK_LOCAL_IP"] = "127.0.0.1"
    return {"PYSPARK_PYTHON": sys.executable, **inherited, **added}


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
