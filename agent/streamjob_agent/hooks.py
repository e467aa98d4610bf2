"""Wraps methods of pyspark as soon as the job imports it: context made and stopped, session made, further session."""

from __future__ import annotations

import functools
import importlib.abc
import importlib.machinery
import sys
from collections.abc import Callable, Sequence
from types import ModuleType
from typing import Any

from streamjob_agent.attach import Host

# Where the classes live: pyspark 3.5 and 4.x.
_CONTEXT_MODULES = ("pyspark.context", "pyspark.core.context")
_SESSION_MODULE = "pyspark.sql.session"
_MARK = "_streamjob_wrapped"


def watch_imports(host: Host) -> None:
    """Wrap pyspark's classes once they are imported, now if they are already."""
    finder = _Finder(host)
    sys.meta_path.insert(0, finder)
    for name in (*_CONTEXT_MODULES, _SESSION_MODULE):
        if name in sys.modules:
            finder.loaded(sys.modules[name])


class _Finder(importlib.abc.MetaPathFinder):
    """Finds the watched modules as Python would, with a loader that tells when the module is there."""

    def __init__(self, host: Host) -> None:
        self._host = host

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        """None for every other module, and for one that cannot be wrapped: Python then goes on as usual."""
        if fullname != _SESSION_MODULE and fullname not in _CONTEXT_MODULES:
            return None
        spec = self._host.guard.call("hooks", lambda: importlib.machinery.PathFinder.find_spec(fullname, path), None)
        if spec is not None and hasattr(spec.loader, "exec_module"):
            self._host.guard.call("hooks", lambda: _tell(spec.loader, self.loaded), None)
            return spec
        return None

    def loaded(self, module: ModuleType) -> None:
        """Wrap what the module defines; never raises."""
        self._host.guard.call("hooks", lambda: wrap_classes(module, self._host), None)


def _tell(loader: Any, loaded: Callable[[ModuleType], None]) -> None:
    execute = loader.exec_module

    def exec_module(module: ModuleType) -> None:
        execute(module)
        loaded(module)

    loader.exec_module = exec_module


def wrap_classes(module: Any, host: Host) -> None:
    """Wrap SparkContext and SparkSession where `module` defines them. A second call changes nothing."""
    context, session = (getattr(module, name, None) for name in ("SparkContext", "SparkSession"))
    if context is not None and context.__module__ == module.__name__ and not hasattr(context, _MARK):
        setattr(context, _MARK, True)
        _wrap(context, "_initialize_context", host, before=lambda _, jconf: fill(jconf, host))
        _wrap(context, "stop", host, before=host.session_leaves)
    if session is not None and session.__module__ == module.__name__ and not hasattr(session, _MARK):
        setattr(session, _MARK, True)
        _wrap(session, "__init__", host, after=lambda session, _: host.session_appeared(session))
        _wrap(session, "newSession", host, after=lambda _, made: host.session_joins(made))


def _wrap(
    owner: Any,
    name: str,
    host: Host,
    before: Callable[..., None] | None = None,
    after: Callable[[Any, Any], None] | None = None,
) -> None:
    """Call `before` with object and positional arguments, `after` with object and result; neither can disturb it."""
    theirs = getattr(owner, name)

    @functools.wraps(theirs)
    def wrapped(self: Any, *args: Any, **kwargs: Any) -> Any:
        if before is not None:
            host.guard.call("hooks", functools.partial(before, self, *args), None)
        result = theirs(self, *args, **kwargs)
        if after is not None:
            host.guard.call("hooks", functools.partial(after, self, result), None)
        return result

    setattr(owner, name, wrapped)


def fill(jconf: Any, host: Host) -> None:
    """Put recommended settings into a JVM SparkConf where nothing else set them, at the last moment before it is used.

    By then spark-defaults, spark-submit's arguments and the job's own builder are all in it, so the user always wins.
    """
    from streamjob_agent.spark.settings import merge_settings, recommended_settings

    given = {key: jconf.get(key) for key in recommended_settings() if jconf.contains(key)}
    merged, conflicts = merge_settings(given)
    for key, value in merged.items():
        if key not in given:
            jconf.set(key, value)
    host.note("settings", " ".join(conflict.sentence for conflict in conflicts) or "ok")
