"""One run of tests in a process of its own, forked from one that has imported what is not ours: a second is saved each.

The mutant is in that process's memory alone: an import of its module finds the changed text, the tree stays as it is.
"""

from __future__ import annotations

import dataclasses
import importlib.abc
import importlib.machinery
import importlib.util
import json
import os
import pathlib
import resource
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from types import CodeType, FrameType
from typing import Any

import pytest

from benchmarks.mutants.modules import ROOT, Module

_WALL_S = 600.0
"""A mutant that waits without computing is given up after this; one that computes, by its CPU time."""
_OPTIONS = ("-q", "-x", "-p", "no:cacheprovider", "--hypothesis-seed=0", "--no-header")


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Base:
    """A run without mutant: for each test its CPU seconds and the module's lines that it ran, and all of the run's.

    `imported` are the modules that were loaded and are not ours.
    """

    tests: dict[str, float]
    lines: dict[str, list[int]]
    cpu_s: float
    imported: list[str]

    def reaching(self, lines: range) -> list[str]:
        """The tests that run one of these lines, the quickest first; all of them without lines."""
        found = [test for test in self.tests if not lines or not set(lines).isdisjoint(self.lines[test])]
        return sorted(found, key=lambda test: self.tests[test])


def base(module: Module) -> Base:
    """The run without mutant; SystemExit when it fails."""
    with tempfile.TemporaryDirectory() as folder:
        told, log = pathlib.Path(folder, "base.json"), pathlib.Path(folder, "log")
        status = _forked(lambda: _tell(module, told), log, cpu_s=None)
        if status != 0:
            raise SystemExit(f"{module.name}: its tests fail without a mutant\n{log.read_text()[-3000:]}")
        return Base(**json.loads(told.read_text()))


def killed(module: Module, text: str, tests: Sequence[str], cpu_s: float) -> bool:
    """Whether one of the tests fails, or does not end within the CPU time, where the module has this text."""
    with tempfile.TemporaryDirectory() as folder:
        return _forked(lambda: _run(module, text, tests), pathlib.Path(folder, "log"), cpu_s) != 0


def _tell(module: Module, told: pathlib.Path) -> int:
    seen = _Seen(str(ROOT / module.path))
    before = time.process_time()
    outcome = pytest.main([*_OPTIONS, *module.tests(), "-m", "not spark and not kube and not slow"], plugins=[seen])
    ours = tuple(str(ROOT / room) for room in ("agent", "planners", "operator", "simulator", "commands", "tests", "e2e"))
    imported = [
        name
        for name, one in sys.modules.items()
        if (file := getattr(one, "__file__", None)) and not file.startswith(ours) and one.__spec__ is not None
    ]
    found = Base(
        tests=seen.took_s,
        lines={test: sorted(lines) for test, lines in seen.lines.items()},
        cpu_s=time.process_time() - before,
        imported=[name for name in imported if name.split(".")[0] not in ("__main__", "benchmarks", "conftest")],
    )
    told.write_text(json.dumps(dataclasses.asdict(found)))
    return int(outcome)


def _run(module: Module, text: str, tests: Sequence[str]) -> int:
    sys.meta_path.insert(0, _Finder(module, text))
    return int(pytest.main([*_OPTIONS, *dict.fromkeys(test.split("::")[0] for test in tests)], plugins=[_Only(tests)]))


class _Seen:
    """Asks each test how long it takes and which lines of one file it runs."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.took_s: dict[str, float] = {}
        self.lines: dict[str, set[int]] = {}

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        """Around one test with its fixtures."""
        lines = self.lines[item.nodeid] = set[int]()

        def trace(frame: FrameType, event: str, _: Any) -> Any:
            if frame.f_code.co_filename != self.path:
                return None
            if event == "line":
                lines.add(frame.f_lineno)
            return trace

        before = time.process_time()
        sys.settrace(trace)
        yield
        sys.settrace(None)
        self.took_s[item.nodeid] = time.process_time() - before


class _Only:
    """Runs these tests, in this order."""

    def __init__(self, tests: Sequence[str]) -> None:
        self.place = {test: place for place, test in enumerate(tests)}

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """After the files were read."""
        items[:] = sorted((one for one in items if one.nodeid in self.place), key=lambda one: self.place[one.nodeid])


class _Finder(importlib.abc.MetaPathFinder):
    def __init__(self, module: Module, text: str) -> None:
        self.module, self.text = module, text

    def find_spec(self, fullname: str, path: object, target: object = None) -> importlib.machinery.ModuleSpec | None:
        if fullname != self.module.imported_as:
            return None
        file = str(ROOT / self.module.path)
        return importlib.util.spec_from_file_location(fullname, file, loader=_Loader(fullname, file, self.text))


class _Loader(importlib.machinery.SourceFileLoader):
    def __init__(self, fullname: str, path: str, text: str) -> None:
        super().__init__(fullname, path)
        self.text = text

    def get_code(self, fullname: str) -> CodeType:
        return compile(self.text, self.path, "exec", dont_inherit=True)


def _forked(run: Any, log: pathlib.Path, cpu_s: float | None) -> int:
    """The exit status of `run` in a process of its own, which is not 0 when it was ended by a limit."""
    child = os.fork()
    if child == 0:
        _begin(log, cpu_s)
        status = 70
        try:
            status = run()
        finally:
            os._exit(status)
    try:
        return _waited(child)
    finally:
        shutil.rmtree(_examples(child), ignore_errors=True)


def _begin(log: pathlib.Path, cpu_s: float | None) -> None:
    os.setsid()
    file = os.open(log, os.O_CREAT | os.O_WRONLY)
    os.dup2(file, 1)
    os.dup2(file, 2)
    os.environ["HYPOTHESIS_STORAGE_DIRECTORY"] = str(_examples(os.getpid()))
    if cpu_s is not None:
        resource.setrlimit(resource.RLIMIT_CPU, (int(cpu_s) + 1, int(cpu_s) + 2))


def _examples(pid: int) -> pathlib.Path:
    """Where hypothesis keeps what it found: no mutant may profit from the one before."""
    return pathlib.Path(tempfile.gettempdir(), f"streamjob-mutant-{pid}")


def _waited(child: int) -> int:
    until_s = time.monotonic() + _WALL_S
    while time.monotonic() < until_s:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return status
        time.sleep(0.01)
    os.killpg(child, signal.SIGKILL)
    return os.waitpid(child, 0)[1]
