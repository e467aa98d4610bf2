"""The tests of one module, in processes forked from one that has read them: a mutant costs what its tests cost.

The mutant is in a process's memory alone, the tree stays as it is. Where a function changed, the functions that are
there are patched. What importing runs is changed where it is imported, in a process that has imported nothing of ours.
"""

from __future__ import annotations

import dataclasses
import functools
import importlib.abc
import importlib.machinery
import importlib.util
import itertools
import json
import os
import pathlib
import resource
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from types import CodeType, FrameType
from typing import Any

import pytest
from benchmarks.mutants.modules import ROOT, Module
from benchmarks.mutants.mutant import Mutant, statement
from benchmarks.mutants.patching import Functions

_WALL_S = 1800.0
"""A mutant that waits without computing is given up after this; one that computes, by its CPU time."""
_OPTIONS = ("-q", "-x", "-p", "no:cacheprovider", "--hypothesis-seed=0", "--no-header")
_QUICK = "not spark and not kube and not slow and not long"


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Base:
    """A run without mutant: for each test its CPU seconds and the module's lines that it ran, and all of the run's.

    `imported` are the modules that were loaded and are not ours.
    """

    tests: dict[str, float]
    lines: dict[str, list[int]]
    cpu_s: float
    imported: list[str]

    @property
    def limit_s(self) -> float:
        """CPU time of a mutant's tests after which they count as endless."""
        return 20.0 + 5.0 * self.cpu_s

    def reaching(self, lines: range) -> list[str]:
        """The tests that run one of these lines, the quickest first; all of them without lines."""
        found = [test for test in self.tests if not lines or not set(lines).isdisjoint(self.lines[test])]
        return sorted(found, key=lambda test: self.tests[test])


Reported = Callable[[str, bool], None]
"""Called with a mutant's key and whether a test failed."""


def session(module: Module, text: str, mutants: Sequence[Mutant], report: Callable[[Base], Reported]) -> Base:
    """Runs the module's tests without a mutant, then those that reach a mutant's statement with it, one by one.

    Mutants of what importing runs are left to `killed`. `report` is called in the process that runs the tests, with the
    run without mutant. SystemExit where that fails.
    """
    with tempfile.TemporaryDirectory() as folder:
        told, log = pathlib.Path(folder, "base.json"), pathlib.Path(folder, "log")

        def run() -> int:
            loop = _Loop(module, text, mutants, lambda base: _noted(base, told, report))
            return int(pytest.main([*_OPTIONS, "-m", _QUICK, *module.tests()], plugins=[loop]))

        if _forked(run, log, cpu_s=None, wall_s=None) != 0 or not told.exists():
            raise SystemExit(f"{module.name}: its tests fail without a mutant\n{log.read_text()[-3000:]}")
        return Base(**json.loads(told.read_text()))


def killed(module: Module, text: str, tests: Sequence[str], limit_s: float) -> bool:
    """Whether one of the tests fails, or does not end within the CPU time, where the module has this text."""
    with tempfile.TemporaryDirectory() as folder:
        return _forked(lambda: _imported(module, text, tests), pathlib.Path(folder, "log"), cpu_s=limit_s) != 0


def _noted(base: Base, told: pathlib.Path, report: Callable[[Base], Reported]) -> Reported:
    told.write_text(json.dumps(dataclasses.asdict(base)))
    return report(base)


def _imported(module: Module, text: str, tests: Sequence[str]) -> int:
    sys.meta_path.insert(0, _Finder(module, text))
    return int(pytest.main([*_OPTIONS, *dict.fromkeys(test.split("::")[0] for test in tests)], plugins=[_Only(tests)]))


class _Loop:
    """Takes the place of pytest's loop over the tests."""

    def __init__(self, module: Module, text: str, mutants: Sequence[Mutant], noted: Callable[[Base], Reported]) -> None:
        self.module, self.text, self.mutants, self.noted = module, text, mutants, noted

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """All without a mutant, then the mutants."""
        items = {item.nodeid: item for item in session.items}
        path = str(ROOT / self.module.path)
        base = self._base(session, _Seen(path))
        if base is None:
            return True
        functions = Functions(path, self.text)

        def fails(text: str, lines: range) -> bool:
            tests = [items[test] for test in base.reaching(lines)]
            run = functools.partial(_with, functions, text, session, tests)
            return bool(tests) and _forked(run, pathlib.Path(os.devnull), cpu_s=base.limit_s) != 0

        if fails(self.text, range(0)):
            session.testsfailed = 1
            print("They fail in another order, the quickest first.")
            return True
        report = self.noted(base)
        for one in self.mutants:
            if lines := statement(self.text, one.line):
                report(one.key, fails(one.text, lines))
        return True

    def _base(self, session: pytest.Session, seen: _Seen) -> Base | None:
        with tempfile.TemporaryDirectory() as folder:
            told = pathlib.Path(folder, "base.json")

            def run() -> int:
                session.config.pluginmanager.register(seen)
                before = time.process_time()
                failed = _run(session, session.items)
                told.write_text(json.dumps(dataclasses.asdict(seen.base(time.process_time() - before))))
                return failed

            if _forked(run, pathlib.Path(folder, "log"), cpu_s=None, wall_s=None) != 0:
                session.testsfailed = 1
                print(pathlib.Path(folder, "log").read_text()[-2000:])
                return None
            return Base(**json.loads(told.read_text()))


def _with(functions: Functions, text: str, session: pytest.Session, tests: Sequence[pytest.Item]) -> int:
    functions.become(text)
    return _run(session, tests)


def _run(session: pytest.Session, tests: Sequence[pytest.Item]) -> int:
    """1 once a test fails."""
    for test, following in itertools.zip_longest(tests, tests[1:]):
        test.config.hook.pytest_runtest_protocol(item=test, nextitem=following)
        if session.testsfailed:
            return 1
    return 0


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

    def base(self, cpu_s: float) -> Base:
        """What was seen, of all tests together this long."""
        ours = tuple(str(ROOT / room) for room in ("agent", "planners", "operator", "simulator", "commands", "tests"))
        imported = [
            name
            for name, one in sys.modules.items()
            if (file := getattr(one, "__file__", None)) and not file.startswith(ours) and one.__spec__ is not None
        ]
        return Base(
            tests=self.took_s,
            lines={test: sorted(lines) for test, lines in self.lines.items()},
            cpu_s=cpu_s,
            imported=[name for name in imported if name.split(".")[0] not in ("__main__", "benchmarks", "conftest")],
        )


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


def _forked(run: Callable[[], int], log: pathlib.Path, cpu_s: float | None, wall_s: float | None = _WALL_S) -> int:
    """The exit status of `run` in a process of its own, which is not 0 when it was ended by a limit."""
    child = os.fork()
    if child == 0:
        status = 70
        try:
            _begin(log, cpu_s)
            status = run()
        finally:
            os._exit(status)
    return _waited(child, wall_s)


def _begin(log: pathlib.Path, cpu_s: float | None) -> None:
    os.setsid()
    file = os.open(log, os.O_CREAT | os.O_WRONLY)
    os.dup2(file, 1)
    os.dup2(file, 2)
    if cpu_s is not None:
        resource.setrlimit(resource.RLIMIT_CPU, (int(cpu_s) + 1, int(cpu_s) + 2))


def _waited(child: int, wall_s: float | None) -> int:
    began_s = time.monotonic()
    while wall_s is None or time.monotonic() - began_s < wall_s:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return status
        time.sleep(0.01)
    os.killpg(child, signal.SIGKILL)
    return os.waitpid(child, 0)[1]
