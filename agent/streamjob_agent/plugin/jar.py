"""The plugin's jar: Java source of this package, compiled by the Janino of the user's own Spark."""

from __future__ import annotations

import importlib.resources
import pathlib
import sys
import zipfile
from collections.abc import Mapping, Sequence
from typing import Any

from streamjob_agent.guard import describe
from streamjob_agent.plugin import PLUGIN
from streamjob_agent.spark.source import java_files, merged

_FOLDER = "door"
_MANIFEST = "Manifest-Version: 1.0\r\n\r\n"
_DAY = (1980, 1, 1, 0, 0, 0)  # the earliest that an archive can say: the same source gives the same jar


def command(words: Sequence[str]) -> int:
    """`python -m streamjob_agent jar FILE`: the exit code."""
    if len(words) != 1 or words[0].startswith("-"):
        sys.stderr.write("usage: python -m streamjob_agent jar FILE.jar\n")
        return 2
    try:
        make(pathlib.Path(words[0]))
    except Exception as error:  # noqa: BLE001 - no pyspark, no Java, no such folder: a sentence is what helps
        sys.stderr.write(f"streamjob_agent: no jar was written: {describe(error)}\n")
        return 1
    return 0


def make(path: pathlib.Path) -> None:
    """Write the jar, by this Python's pyspark and the Java that it finds; raises what Spark or the disk raise."""
    from pyspark import SparkContext

    SparkContext._ensure_initialized()
    write(path, compiled(source(), SparkContext._jvm))


def source() -> str:
    """The plugin as one compilation unit."""
    folder = importlib.resources.files(__package__).joinpath(_FOLDER)
    return merged(PLUGIN.rpartition(".")[0], java_files(folder))


def compiled(unit: str, jvm: Any) -> dict[str, bytes]:
    """Class name to its bytes; raises Py4JJavaError when the source does not fit this Spark."""
    compiler = jvm.org.codehaus.janino.SimpleCompiler()
    compiler.setParentClassLoader(jvm.java.lang.Thread.currentThread().getContextClassLoader())
    compiler.cook(unit)
    return {str(name): bytes(code) for name, code in compiler.getBytecodes().items()}


def write(path: pathlib.Path, classes: Mapping[str, bytes]) -> None:
    """A jar of these classes, whole at once."""
    draft = path.with_name(path.name + ".draft")
    with zipfile.ZipFile(draft, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(zipfile.ZipInfo("META-INF/MANIFEST.MF", _DAY), _MANIFEST)
        for name in sorted(classes):
            archive.writestr(zipfile.ZipInfo(name.replace(".", "/") + ".class", _DAY), classes[name])
    draft.replace(path)
