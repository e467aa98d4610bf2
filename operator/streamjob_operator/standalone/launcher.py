"""The user's job as a child process: started through the agent's runner, its code unchanged."""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path

from streamjob_operator.spec import Application

RECOMMENDED = {
    # The scheduler obeys placements only if it waits for the executor that has the state, and for nothing else.
    "spark.locality.wait": "0s",
    "spark.locality.wait.process": "30s",
    # An executor that is removed is empty: it leaves at once, without copying blocks around.
    "spark.decommission.enabled": "true",
    "spark.storage.decommission.enabled": "false",
}
"""Settings given to the job unless it states its own."""
STOP_POLL_S = 0.1


class Driver:
    """One run of the user's script. Its output goes to `log`; the agent writes its address to `address_file`."""

    def __init__(self, application: Application, *, log: Path, address_file: Path, state_dir: Path) -> None:
        self._application = application
        self._log = log
        self._address_file = address_file
        self._state_dir = state_dir
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start the driver; raises OSError when that is impossible."""
        for folder in (self._log.parent, self._address_file.parent, self._state_dir):
            folder.mkdir(parents=True, exist_ok=True)
        self._address_file.unlink(missing_ok=True)  # the address of an earlier driver leads nowhere, or to a stranger
        with self._log.open("ab") as log:
            self._process = subprocess.Popen(
                command(self._application),
                env=environment(self._application, self._address_file, self._state_dir, os.environ),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                # A group of its own: Ctrl-C reaches the controller alone, which then stops the job in order.
                start_new_session=True,
            )

    def exit_code(self) -> int | None:
        """None while it runs, or before it was started."""
        return None if self._process is None else self._process.poll()

    def stop(self, grace_s: float = 20.0) -> None:
        """Ask the driver, then all of its process group, then kill what is left: the JVM and its executors.

        The JVM ends by itself once its Python is gone; executors that are asked first would be started anew by it.
        """
        if self._process is None:
            return
        self._process.terminate()
        for ask in (signal.SIGTERM, signal.SIGKILL):
            if self._gone_within(grace_s / 2):
                return
            _signal_group(self._process.pid, ask)
        self._process.wait()

    def _gone_within(self, seconds: float) -> bool:
        deadline_s = time.monotonic() + seconds
        while self._process is not None and (self._process.poll() is None or _group_lives(self._process.pid)):
            if time.monotonic() >= deadline_s:
                return False
            time.sleep(STOP_POLL_S)
        return True


def command(application: Application) -> list[str]:
    """`python -m streamjob_agent run FILE ARGS`; a local:// path is a path on this machine."""
    main_file = application.main_file.removeprefix("local://")
    return [sys.executable, "-m", "streamjob_agent", "run", main_file, *application.args]


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
    """Recommended settings, the sizes that the job states, and above all its own settings."""
    sizes: dict[str, str] = {}
    for role, pod in (("driver", application.driver), ("executor", application.executor)):
        stated = pod.model_fields_set
        sizes.update({f"spark.{role}.cores": str(pod.cores)} if "cores" in stated else {})
        sizes.update({f"spark.{role}.memory": pod.memory} if "memory" in stated else {})
    return {**RECOMMENDED, **sizes, **application.spark_conf}


def submit_args(settings: Mapping[str, str]) -> str:
    """What pyspark hands to spark-submit; it splits the text like a shell."""
    words = [word for name, value in sorted(settings.items()) for word in ("--conf", f"{name}={value}")]
    return shlex.join([*words, "pyspark-shell"])


def _signal_group(group: int, what: signal.Signals) -> None:
    if _group_lives(group):
        os.killpg(group, what)


def _group_lives(group: int) -> bool:
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    return True
