"""Pieces are made once, for the code and the arguments that they are of, and survive a program that is killed."""

from __future__ import annotations

import dataclasses
import importlib
import math
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from benchmarks import kept, sources
from benchmarks.kept import Array, piece, stop_after

CALLS: list[float] = []


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """What the piece of these tests gives."""

    values: Array
    by_name: dict[str, float]


@piece
def drawn(seed: int, *, scale: float = 1.0) -> Found:
    CALLS.append(scale)
    return Found(values=np.arange(3) * scale, by_name={"seed": seed, "nothing": math.nan})


@pytest.fixture(autouse=True)
def _apart(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept, "FOLDER", tmp_path)
    CALLS.clear()


def test_a_piece_is_made_once_and_comes_back_as_it_was() -> None:
    first, again = drawn(1, scale=2.0), drawn(1, scale=2.0)
    assert CALLS == [2.0]
    assert again.values.tolist() == first.values.tolist() == [0.0, 2.0, 4.0]
    assert again.by_name["seed"] == 1
    assert math.isnan(again.by_name["nothing"])


def test_an_array_keeps_what_is_no_number() -> None:
    drawn(1, scale=math.inf)
    kept_values = drawn(1, scale=math.inf).values
    assert len(CALLS) == 1
    assert np.isnan(kept_values[0])  # no time as long as for ever
    assert kept_values[1:].tolist() == [math.inf, math.inf]


def test_other_arguments_are_another_piece() -> None:
    drawn(1), drawn(2), drawn(1, scale=3.0)
    assert len(CALLS) == 3


def test_arguments_must_tell_all_that_they_hold() -> None:
    with pytest.raises(TypeError, match="ndarray"):
        drawn(np.arange(5000))  # type: ignore[arg-type]


def test_a_line_that_was_cut_short_is_made_again(tmp_path: Path) -> None:
    drawn(1), drawn(2)
    (path,) = tmp_path.iterdir()
    path.write_text(path.read_text(encoding="utf-8")[:-20], encoding="utf-8")
    drawn(1), drawn(2), drawn(2)
    assert len(CALLS) == 3


def test_when_the_time_is_up_what_is_kept_is_given_and_nothing_begun() -> None:
    drawn(1)
    stop_after(-1.0)
    try:
        drawn(1)
        with pytest.raises(SystemExit) as ended:
            drawn(2)
    finally:
        stop_after(None)
    assert ended.value.code == kept.UNFINISHED
    assert len(CALLS) == 1


def test_what_was_spent_is_told_of_the_code_as_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    drawn(1), drawn(2), drawn(2)
    assert len(kept.spent_s(drawn.__wrapped__)) == 2
    (path,) = tmp_path.iterdir()
    path.write_text(path.read_text(encoding="utf-8")[:-20], encoding="utf-8")
    (spent,) = kept.spent_s(drawn.__wrapped__)
    assert spent >= 0.0
    monkeypatch.setattr(kept, "version", lambda function: "another")
    assert kept.spent_s(drawn.__wrapped__) == []


HELPER = "def twice(x):\n    return 2 * x\n"
MODULE = """
from benchmarks_of_a_test import helper

FACTOR = 3
WORDS = "said"


def result(x):
    return beside(helper.twice(x))


def beside(x):
    return FACTOR * x


def said(x):
    return WORDS
"""


@pytest.fixture
def versions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., str]:
    """The version of `result` after what is written is replaced."""
    package = tmp_path / "benchmarks_of_a_test"
    package.mkdir()
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(sources, "OURS", ("benchmarks_of_a_test",))

    def made(old: str = "", new: str = "") -> str:
        (package / "__init__.py").write_text("", encoding="utf-8")
        (package / "helper.py").write_text(HELPER.replace(old, new) if old else HELPER, encoding="utf-8")
        (package / "main.py").write_text(MODULE.replace(old, new) if old else MODULE, encoding="utf-8")
        for one in (sources._tree, sources._files, sources.imported_by, sources._origin, sources._digest):
            one.cache_clear()
        for name in [one for one in sys.modules if one.startswith("benchmarks_of_a_test")]:
            del sys.modules[name]
        importlib.invalidate_caches()
        module: ModuleType = importlib.import_module("benchmarks_of_a_test.main")
        return sources.version(module.result)

    return made


@pytest.mark.parametrize(("old", "new"), [("2 * x", "4 * x"), ("FACTOR = 3", "FACTOR = 4"), ("FACTOR * x", "x")])
def test_what_it_is_computed_from_makes_another_version(versions, old: str, new: str) -> None:
    assert versions(old, new) != versions()


@pytest.mark.parametrize(
    ("old", "new"), [("said", "told"), ("return WORDS", "return 1"), ("FACTOR = 3", "FACTOR = 3  # why")]
)
def test_what_it_is_not_computed_from_makes_none(versions, old: str, new: str) -> None:
    assert versions(old, new) == versions()


def test_whoever_asks_the_registry_depends_on_every_planner() -> None:
    files = {path.name for path in sources.behind(["streamjob_planners.registry"])}
    assert {"search.py", "greedy.py", "flux.py"} <= files
