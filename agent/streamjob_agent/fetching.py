"""The script and the Python files that a program is started with, fetched by the driver's own Spark where they are far.

As under spark-submit: what is fetched is there before the script's first line, with the keys, file systems and jars of
Spark's settings. Only then is the JVM started before the script; settings of the script's own session that a JVM takes
only at its start come too late, as under spark-submit.
"""

from __future__ import annotations

import pathlib
import shlex
import sys
from collections.abc import MutableMapping, Sequence

from streamjob_agent.submitted import ARGUMENTS, SHELL

_HERE = ("local://", "file://")
_MODULE = ".py"


class NotFetched(Exception):
    """Spark could not fetch them; its own words are on stderr already."""


def is_far(address: str) -> bool:
    """Whether Spark must fetch it: an address that is no path of this machine."""
    return "://" in address and not address.startswith(_HERE)


def path_of(address: str) -> str:
    """A path of this machine, without its scheme."""
    for scheme in _HERE:
        address = address.removeprefix(scheme)
    return address


def gather(script: str | None, py_files: Sequence[str], environ: MutableMapping[str, str]) -> str | None:
    """Make the Python files importable, here and in Spark's workers, and give the script's path on this machine.

    `script` is None for a module. Raises NotFetched.
    """
    far = script is not None and is_far(script)
    wanted = [path_of(one) for one in ([script] if far and script is not None else []) + list(py_files)]
    if not wanted:
        return script if script is None else path_of(script)
    environ[ARGUMENTS] = with_py_files(environ.get(ARGUMENTS), wanted)
    here = _fetched() if any(is_far(one) for one in wanted) else wanted
    if len(here) != len(wanted):
        raise NotFetched(f"Spark has {len(here)} of {len(wanted)} files")
    if far:
        script, *here = here
    sys.path[1:1] = [import_path(one) for one in here]
    return script if script is None else path_of(script)


def with_py_files(arguments: str | None, files: Sequence[str]) -> str:
    """What pyspark hands to spark-submit, with these files."""
    return f"--py-files {shlex.quote(','.join(files))} {arguments or SHELL}"


def import_path(path: str) -> str:
    """What must be in sys.path: an archive itself, a module's folder."""
    return str(pathlib.Path(path).absolute().parent) if path.endswith(_MODULE) else path


def _fetched() -> list[str]:
    """Where Spark has put its Python files, in their order; starts the JVM that the script's session will use."""
    from pyspark import SparkContext  # here: nothing of Spark is needed for a script that is here

    try:
        SparkContext._ensure_initialized()
    except Exception as error:
        raise NotFetched(str(error)) from error
    jvm = SparkContext._jvm
    told = None if jvm is None else jvm.System.getProperty("spark.submit.pyFiles")
    return [path_of(one) for one in str(told or "").split(",") if one]
