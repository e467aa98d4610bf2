"""Looks into the probe, where only its insides can tell: fields by reflection, and Java of a test's own."""

from __future__ import annotations

import pathlib
import uuid
from typing import Any

_JAVA = pathlib.Path(__file__).parent


def field(target: Any, name: str) -> Any:
    """A field's value, whoever may see it."""
    found = target.getClass().getDeclaredField(name)
    found.setAccessible(True)
    return found.get(target)


def swap(target: Any, name: str, value: Any) -> Any:
    """Put another value into a field of a Java object; the value it had. Final fields can be set through reflection."""
    found = target.getClass().getDeclaredField(name)
    found.setAccessible(True)
    before = found.get(target)
    found.set(target, value)
    return before


def call(session: Any, target: Any, name: str, *arguments: Any) -> Any:
    """What a method returns that others may not call; Python's integers arrive as the Java type that they fit in."""
    found = next(one for one in target.getClass().getDeclaredMethods() if one.getName() == name)
    found.setAccessible(True)
    context = session.sparkContext
    passed = context._gateway.new_array(context._jvm.java.lang.Object, len(arguments))
    for at, argument in enumerate(arguments):
        passed[at] = argument
    return found.invoke(target, passed)


def another(session: Any, target: Any) -> Any:
    """A new object of the same class, made without arguments."""
    return _made(session, target.getClass())


def compiled(session: Any, name: str) -> Any:
    """A new object of the Java class that lies beside this file, `name.java`, without a package."""
    jvm = session.sparkContext._jvm
    package = f"streamjob.tests.v{uuid.uuid4().hex}"  # py4j remembers classes by name
    compiler = jvm.org.codehaus.janino.SimpleCompiler()
    compiler.setParentClassLoader(jvm.java.lang.Thread.currentThread().getContextClassLoader())
    compiler.cook(f"package {package};\n" + (_JAVA / f"{name}.java").read_text())
    return _made(session, compiler.getClassLoader().loadClass(f"{package}.{name}"))


def _made(session: Any, of: Any) -> Any:
    """A new object of a Java class, whoever may make one."""
    jvm, gateway = session.sparkContext._jvm, session.sparkContext._gateway
    constructor = of.getDeclaredConstructor(gateway.new_array(jvm.java.lang.Class, 0))
    constructor.setAccessible(True)
    return constructor.newInstance(gateway.new_array(jvm.java.lang.Object, 0))
