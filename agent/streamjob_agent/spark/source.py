"""The probe's Java source as one compilation unit, and its compilation by the Janino that Spark ships."""

from __future__ import annotations

import importlib.resources
import uuid
from collections.abc import Iterable
from importlib.resources.abc import Traversable
from typing import Any

_PACKAGE = "io.streamjob.probe"
_FOLDER = "probe"
_EXECUTOR_PACKAGE = "io.streamjob.executor"


def probe_source(package: str = _PACKAGE) -> str:
    """Every probe file merged: one package line, each import once, then the classes."""
    return merged(package, java_files(importlib.resources.files(__package__).joinpath(_FOLDER)))


def java_files(folder: Traversable) -> list[str]:
    """The text of each Java file of a folder; raises FileNotFoundError when there is none."""
    texts = [file.read_text(encoding="utf-8") for file in folder.iterdir() if file.name.endswith(".java")]
    if not texts:
        raise FileNotFoundError(f"Java source is missing from {folder}")
    return texts


def merged(package: str, texts: Iterable[str]) -> str:
    """One compilation unit of Java files, whose own packages give way to this one."""
    imports: set[str] = set()
    bodies: list[str] = []
    for text in sorted(texts):
        lines = text.splitlines()
        imports.update(line for line in lines if line.startswith("import "))
        bodies.append("\n".join(line for line in lines if not line.startswith(("import ", "package "))))
    return "\n".join([f"package {package};", *sorted(imports), *bodies])


def compile_probe(context: Any) -> Any:
    """A new `Probe` in the JVM of a pyspark SparkContext; raises Py4JJavaError when it does not compile."""
    jvm, gateway = context._jvm, context._gateway
    # py4j remembers methods by class name for the life of the JVM, so a second probe needs names of its own.
    package = f"{_PACKAGE}.v{uuid.uuid4().hex}"
    compiler = _compiled(context, probe_source(package))
    probe = compiler.getClassLoader().loadClass(f"{package}.Probe")
    constructor = probe.getDeclaredConstructor(gateway.new_array(jvm.java.lang.Class, 0))
    return constructor.newInstance(gateway.new_array(jvm.java.lang.Object, 0))


def compile_opening(context: Any) -> tuple[Any, Any]:
    """The class that executors get for groups that move, and the bytes of its jar's classes by name.

    Raises Py4JJavaError where it does not fit this Spark.
    """
    # Executors keep what an earlier agent of this driver gave them.
    package = f"{_EXECUTOR_PACKAGE}.v{uuid.uuid4().hex}"
    folder = importlib.resources.files(__package__).joinpath("executor")
    compiler = _compiled(context, merged(package, java_files(folder)))
    return compiler.getClassLoader().loadClass(f"{package}.Opening"), compiler.getBytecodes()


def _compiled(context: Any, unit: str) -> Any:
    compiler = context._jvm.org.codehaus.janino.SimpleCompiler()
    compiler.setParentClassLoader(context._jvm.java.lang.Thread.currentThread().getContextClassLoader())
    compiler.cook(unit)
    return compiler
