"""Wraps methods of pyspark as soon as they are imported: context made and stopped, session made, query started.

A session of Spark Connect is wrapped only to say that its driver is elsewhere.
"""

from __future__ import annotations

import functools
import importlib
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
_WRITER_MODULE = "pyspark.sql.streaming.readwriter"
_CONNECT_MODULE = "pyspark.sql.connect.session"
_MODULES = (*_CONTEXT_MODULES, _SESSION_MODULE, _WRITER_MODULE, _CONNECT_MODULE)
_MARK = "_streamjob_wrapped"
_told: list[Host] = []  # who is told of queries that start: the newest, as classes are wrapped once in a process
_everywhere: list[Host] = []  # who is told of every session that the process makes


def watch_imports(host: Host) -> None:
    """Wrap pyspark's classes once they are imported, now if they are already."""
    _told[:] = _everywhere[:] = [host]
    finder = _Finder(host)
    sys.meta_path.insert(0, finder)
    for name in _MODULES:
        if name in sys.modules:
            finder.loaded(sys.modules[name])


def watcher() -> Host | None:
    """Whose agent every session of this process gets by itself; None where a session must be brought to one."""
    return _everywhere[0] if _everywhere else None


def watch_queries(host: Host) -> None:
    """Wrap only what starts queries, now: for a process whose sessions are its own business."""
    _told[:] = [host]
    host.guard.call("hooks", lambda: _wrap_writer(importlib.import_module(_WRITER_MODULE), host), None)


class _Finder(importlib.abc.MetaPathFinder):
    """Finds the watched modules as Python would, with a loader that tells when the module is there."""

    def __init__(self, host: Host) -> None:
        self._host = host

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        """None for every other module, and for one that cannot be wrapped: Python then goes on as usual."""
        if fullname not in _MODULES:
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
    """Wrap contexts, sessions and what starts queries where `module` defines them. A second call changes nothing."""
    context = _fresh(module, "SparkContext")
    if context is not None:
        _wrap(context, "_initialize_context", host, before=lambda _, jconf: fill(jconf, host, _version()))
        _wrap(context, "stop", host, before=host.session_leaves)
    session = _fresh(module, "SparkSession")
    if session is not None and module.__name__ == _CONNECT_MODULE:
        _wrap(session, "__init__", host, after=lambda *_: host.client_appeared())
    elif session is not None:
        _wrap(session, "__init__", host, after=lambda session, _: host.session_appeared(session))
    _wrap_writer(module, host)


def _wrap_writer(module: Any, host: Host) -> None:
    writer = _fresh(module, "DataStreamWriter")
    for name in ("start", "toTable") if writer is not None else ():
        _wrap(writer, name, host, before=lambda writer, *_: _told[0].query_starts(writer._spark))


def _fresh(module: Any, name: str) -> Any:
    """The module's own class of that name, None when it has none or when it is wrapped already."""
    found = getattr(module, name, None)
    if found is None or found.__module__ != module.__name__ or hasattr(found, _MARK):
        return None
    setattr(found, _MARK, True)
    return found


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


def _version() -> str:
    import pyspark

    return str(pyspark.__version__)


def fill(jconf: Any, host: Host, version: str) -> None:
    """Put recommended settings into a JVM SparkConf where nothing else set them, at the last moment before it is used.

    By then spark-defaults, spark-submit's arguments and the job's own builder are all in it, so the user always wins.
    Where actuation will stay off, they would only change a job that nobody moves: none is put in.
    """
    from streamjob_agent.plugin import withdraw
    from streamjob_agent.spark.selftest import needless
    from streamjob_agent.spark.settings import merge_settings, recommended_settings

    withdraw(jconf)
    keys = (*recommended_settings(), "spark.master")
    given = {key: jconf.get(key) for key in keys if jconf.contains(key)}
    merged, conflicts = merge_settings(given)
    why_not = needless(given, version)
    for key, value in merged.items() if why_not is None else ():
        if key not in given:
            jconf.set(key, value)
    told = [conflict.sentence for conflict in conflicts] + ([f"Nothing was set: {why_not}."] if why_not else [])
    host.note("settings", " ".join(told) or "ok")
