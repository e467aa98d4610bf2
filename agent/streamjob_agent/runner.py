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

from streamjob_agent import fetching
from streamjob_agent.guard import Guard

USAGE = """usage: python -m streamjob_agent run [--py-files FILE,...] [-m MODULE | SCRIPT] [ARGUMENT ...]
       python -m streamjob_agent run --class CLASS FILE.jar [ARGUMENT ...]
       python -m streamjob_agent jar FILE.jar
       python -m streamjob_agent repartition CHECKPOINT [--key-groups N [--dry-run] | --undo | --clean]

Runs a PySpark program unchanged, with the StreamJob agent in its driver. SCRIPT and FILEs are paths, or addresses that
Spark can fetch, such as s3a://... and https://... With --class the program is a class of a jar, in Java or Scala.
`jar` writes the plugin for drivers that are not Python's (spark.plugins=io.streamjob.plugin.StreamJobPlugin).
`repartition` gives a stopped query another number of key groups.
Settings: STREAMJOB_AGENT_HOST, _PORT, _ADDRESS_FILE, _STATE_DIR, _TOKEN, _POLL_S, _OVERHEAD_RATIO,
_TRAFFIC_MIN_BYTES, _TRAFFIC_MAX_PAIRS, _FAILED_AFTER, _PARTITION_MAP, _STOP_GRACE_S."""


def main(arguments: Sequence[str]) -> None:
    """The command line. Ends as the program ends: its exit code, its exception, its signal."""
    if len(arguments) == 1 and arguments[0] in ("-h", "--help"):
        sys.stdout.write(USAGE + "\n")
        return
    if list(arguments[:2]) == ["run", "--class"]:
        raise SystemExit(_class(arguments[2:]))
    py_files, words = _options(arguments)
    if not words or (words[0] == "-m" and len(words) < 2):
        raise SystemExit(_complain(USAGE))
    prepare(os.environ)
    module = words[0] == "-m"
    path = _gathered(None if module else words[0], py_files)
    if path is None:
        run_module(words[1], words[2:])
    else:
        run_script(path, words[1:])


def _class(words: Sequence[str]) -> int:
    if len(words) < 2:
        return _complain(USAGE)
    from streamjob_agent.plugin import launch  # here: nothing of it is needed for a script

    try:
        return launch.run_class(words[0], words[1:], os.environ)
    except launch.CannotLaunch as error:
        return _complain(f"streamjob_agent: {error}")


def _options(arguments: Sequence[str]) -> tuple[list[str], list[str]]:
    """Python files, and the words from the program on; no words where the command is wrong."""
    words = list(arguments)
    if not words or words.pop(0) != "run":
        return [], []
    if words[:1] != ["--py-files"]:
        return [], words
    return [one for one in "".join(words[1:2]).split(",") if one], words[2:]


def _gathered(script: str | None, py_files: Sequence[str]) -> str | None:
    try:
        return fetching.gather(script, py_files, os.environ)
    except fetching.NotFetched as error:
        files = ", ".join([*([] if script is None else [script]), *py_files])
        raise SystemExit(_complain(f"streamjob_agent: Spark cannot fetch {files}: {error}")) from error


def prepare(environ: Mapping[str, str]) -> None:
    """Get ready to attach. If that fails, the program runs without an agent."""

    def watch() -> None:
        from streamjob_agent import attach, config, hooks  # here: an image may lack what they import

        settings, complaints = config.AgentConfig.from_env(environ)
        host = attach.Host(settings, complaints)
        hooks.watch_imports(host)
        host.stop_at_sigterm()

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
