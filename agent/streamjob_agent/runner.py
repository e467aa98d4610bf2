"""Runs the user's script or module as `__main__`, unchanged, with the agent waiting for its Spark session."""

from __future__ import annotations

import os
import pathlib
import runpy
import sys
from collections.abc import Mapping, Sequence

from streamjob_agent.attach import Host
from streamjob_agent.config import AgentConfig
from streamjob_agent.guard import Guard
from streamjob_agent.hooks import watch_imports

USAGE = """usage: python -m streamjob_agent run [-m MODULE | SCRIPT] [ARGUMENT ...]

Runs a PySpark program unchanged, with the StreamJob agent in its driver.
Settings: STREAMJOB_AGENT_HOST, _PORT, _ADDRESS_FILE, _STATE_DIR, _TOKEN, _POLL_S, _OVERHEAD_RATIO,
_TRAFFIC_MIN_BYTES, _TRAFFIC_MAX_PAIRS, _FAILED_AFTER."""


def main(arguments: Sequence[str]) -> None:
    """The command line. Ends as the program ends: its exit code, its exception, its signal."""
    if len(arguments) == 1 and arguments[0] in ("-h", "--help"):
        sys.stdout.write(USAGE + "\n")
        return
    if len(arguments) < 2 or arguments[0] != "run" or (arguments[1] == "-m" and len(arguments) < 3):
        raise SystemExit(_complain(USAGE))
    prepare(os.environ)
    if arguments[1] == "-m":
        run_module(arguments[2], arguments[3:])
    else:
        run_script(arguments[1], arguments[2:])


def prepare(environ: Mapping[str, str]) -> None:
    """Get ready to attach. If that fails, the program runs without an agent."""
    Guard().call("prepare", lambda: watch_imports(Host(*AgentConfig.from_env(environ))), None)


def run_script(path: str, arguments: Sequence[str]) -> None:
    """As `python PATH ARGUMENTS` would."""
    if not pathlib.Path(path).exists():
        raise SystemExit(_complain(f"streamjob_agent: can't open {path!r}: no such file"))
    sys.argv = [path, *arguments]
    sys.path[0] = str(pathlib.Path(path).resolve().parent)
    runpy.run_path(path, run_name="__main__")


def run_module(name: str, arguments: Sequence[str]) -> None:
    """As `python -m NAME ARGUMENTS` would; the working directory is first in sys.path already."""
    sys.argv = [name, *arguments]
    runpy.run_module(name, run_name="__main__", alter_sys=True)


def _complain(sentence: str) -> int:
    sys.stderr.write(sentence + "\n")
    return 2
