"""Runs the user's script or module as `__main__`, unchanged, with the agent waiting for its Spark session."""

from __future__ import annotations

import builtins
import importlib.machinery
import os
import pathlib
import runpy
import sys
import types
from collections.abc import Mapping, Sequence

from streamjob_agent.guard import Guard

USAGE = """usage: python -m streamjob_agent run [-m MODULE | SCRIPT] [ARGUMENT ...]

Runs a PySpark program unchanged, with the StreamJob agent in its driver.
Settings: STREAMJOB_AGENT_HOST, _PORT, _ADDRESS_FILE, _STATE_DIR, _TOKEN, _POLL_S, _OVERHEAD_RATIO,
_TRAFFIC_MIN_BYTES, _TRAFFIC_MAX_PAIRS, _FAILED_AFTER, _PARTITION_MAP, _STOP_GRACE_S."""


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

    def watch() -> None:
        from streamjob_agent import attach, config, hooks, stopping  # here: an image may lack what they import

        settings, complaints = config.AgentConfig.from_env(environ)
        host = attach.Host(settings, complaints)
        hooks.watch_imports(host)
        if settings.stop_grace_s is not None:
            stopping.GracefulStop(host.stop_queries, host.guard, settings.stop_grace_s).install()

    Guard().call("prepare", watch, None)


def run_script(path: str, arguments: Sequence[str]) -> None:
    """As `python PATH ARGUMENTS` would.

    A plain file is not given to runpy: that takes `__main__` away again when the script's last line is done, but
    threads and exit handlers that the script leaves behind may still need it.
    """
    if not pathlib.Path(path).exists():
        raise SystemExit(_complain(f"streamjob_agent: can't open {path!r}: no such file"))
    sys.argv = [path, *arguments]
    if not pathlib.Path(path).is_file() or path.endswith((".zip", ".pyz", ".egg", ".pyc")):
        del sys.path[0]  # runpy puts the folder or archive itself there
        runpy.run_path(path, run_name="__main__")
        return
    full = str(pathlib.Path(path).absolute())
    sys.path[0] = str(pathlib.Path(path).resolve().parent)
    loader = importlib.machinery.SourceFileLoader("__main__", full)
    module = types.ModuleType("__main__")
    names = {"__file__": full, "__builtins__": builtins, "__cached__": None, "__loader__": loader, "__spec__": None}
    vars(module).update(names)
    sys.modules["__main__"] = module
    exec(loader.source_to_code(loader.get_data(full), full), vars(module))


def run_module(name: str, arguments: Sequence[str]) -> None:
    """As `python -m NAME ARGUMENTS` would; the working directory is first in sys.path already."""
    sys.argv = [name, *arguments]
    runpy.run_module(name, run_name="__main__", alter_sys=True)


def _complain(sentence: str) -> int:
    sys.stderr.write(sentence + "\n")
    return 2
