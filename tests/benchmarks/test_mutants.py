"""The mutants' pure parts: which can matter, which are drawn, what is kept, what is explained, and the page."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest
from benchmarks.mutants import explained, kept, mutant, page
from benchmarks.mutants.child import Base
from benchmarks.mutants.explained import Explained
from benchmarks.mutants.kept import Kept, Outcome
from benchmarks.mutants.modules import MODULES, named
from benchmarks.mutants.mutant import Mutant
from benchmarks.mutants.patching import Functions

CODE = '''"""Says what it is."""
import logging
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    LIMIT = 1

__all__ = ["a" + "b"]


@dataclass(frozen=True)
class Kept:
    size: int | None = 1


def act(n: int | None) -> int | str:
    log.info("n", 1)
    return (
        n
        + 1
    )
'''


def made(text: str, occurrence: int = 0) -> Mutant:
    return Mutant(operator="NumberReplacer", occurrence=occurrence, line=1, text=text)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Says what it is.", "Says"),
        ("n: int | None", "n: int & None"),
        ("-> int | str", "-> int & str"),
        ("size: int | None", "size: int & None"),
        ('"a" + "b"', '"a" - "b"'),
        ("LIMIT = 1", "LIMIT = 2"),
        ("frozen=True", "frozen=False"),
        ('"n", 1', '"n", 2'),
        ("n\n", "n n\n"),  # no Python
    ],
)
def test_what_decides_nothing_is_left_out(old: str, new: str) -> None:
    assert old in CODE
    assert mutant.that_matter(CODE, [made(CODE.replace(old, new, 1))]) == []


@pytest.mark.parametrize(
    ("old", "new"), [("+ 1", "- 1"), ("= 1\n\n\ndef", "= 2\n\n\ndef"), ("@dataclass(frozen=True)\n", "")]
)
def test_what_decides_something_is_kept(old: str, new: str) -> None:
    changed = made(CODE.replace(old, new, 1))
    assert changed.text != CODE
    assert mutant.that_matter(CODE, [changed]) == [changed]


def test_a_sample_is_the_same_each_time_and_part_of_every_larger_one() -> None:
    mutants = [made("", number) for number in range(50)]
    five, ten = (mutant.sampled("gate.py", mutants, n, seed=1) for n in (5, 10))
    assert len(five) == 5
    assert {one.key for one in five} < {one.key for one in ten}
    assert five == mutant.sampled("gate.py", reversed(mutants), 5, seed=1)
    assert five != mutant.sampled("gate.py", mutants, 5, seed=2)
    assert len(mutant.sampled("gate.py", mutants, None, seed=1)) == 50


def test_a_change_is_told_by_its_first_line() -> None:
    assert mutant.change("a\n  if b:\n    c\n", "a\n  if not  b:\n    c\n") == ("if b:", "if not b:")


def test_a_statement_is_the_innermost_one_and_none_where_importing_runs_it() -> None:
    line = CODE.splitlines().index("        + 1") + 1
    assert mutant.statement(CODE, line) == range(line - 2, line + 2)
    for text in ("    size: int | None = 1", "def act(n: int | None) -> int | str:", "import logging"):
        assert mutant.statement(CODE, CODE.splitlines().index(text) + 1) == range(0)


def test_a_mutant_runs_the_tests_that_reach_its_statement_the_quickest_first() -> None:
    base = Base(tests={"a": 2.0, "b": 1.0, "c": 0.5}, lines={"a": [7, 8], "b": [8], "c": [1]}, cpu_s=4.0, imported=[])
    assert base.reaching(range(7, 9)) == ["b", "a"]
    assert base.reaching(range(20, 21)) == []
    assert base.reaching(range(0)) == ["c", "b", "a"]


def outcome(*, killed: bool, becomes: str = "n - 1", reached: int = 3) -> Outcome:
    return Outcome(operator="x", at=4, line="n + 1", becomes=becomes, killed=killed, reached=reached, tests="t")


def module_of(*outcomes: Outcome) -> Kept:
    found = {str(number): one for number, one in enumerate(outcomes)}
    return Kept(path="a/gate.py", digest="d", mutants=9, day="2026-03-02", outcomes=found)


def test_the_killed_stay_so_and_survivors_run_again_with_other_tests() -> None:
    of = module_of(outcome(killed=True), outcome(killed=False))
    assert [of.due(key, "t") for key in ("0", "1", "2")] == [False, False, True]
    assert [of.due(key, "other") for key in ("0", "1", "2")] == [False, True, True]


def test_outcomes_are_read_as_they_were_kept_while_the_module_is_the_same(tmp_path: Path) -> None:
    gate = named(["gate"])[0]
    of = dataclasses.replace(kept.read(gate, tmp_path), mutants=9, outcomes={"0": outcome(killed=True)})
    kept.keep(of, tmp_path)
    assert kept.read(gate, tmp_path) == of
    kept.keep(dataclasses.replace(of, digest="another text"), tmp_path)
    assert kept.read(gate, tmp_path).outcomes == {}


SAME = Explained(module="a/gate.py", line="n + 1", becomes=("n - 1",), equivalent=True, why="n is 0.")


def test_each_mutant_counts_once_and_equivalent_ones_not_against_the_goal() -> None:
    other = dataclasses.replace(SAME, becomes=("n * 1",), equivalent=False)
    of = module_of(
        *[outcome(killed=True)] * 19,
        outcome(killed=False),
        outcome(killed=False, becomes="n * 1"),
    )
    found = page.score(of, [SAME, other])
    assert (found.killed, found.equivalent, found.explained, found.left) == (19, 1, 1, ())
    assert found.percent == pytest.approx(95.0)
    assert found.good
    assert page.line(found) == "a/gate.py: 21 of 9, 19 killed, 1 equivalent, 1 explained, 0 open: 95 percent"


def test_a_module_that_was_not_run_here_keeps_its_row() -> None:
    other = page.score(Kept(path="a/idle.py", digest="d"), [])
    row = "| `a/idle.py` | 21 of 21 | 21 | 0 | 0 | 0 | 100 | 2026-11-24 |"
    assert row in page.page([other], f"text\n{row}\n").splitlines()
    assert "| `a/idle.py` | not run |" in page.page([other], "text\n")


def test_a_survivor_that_nobody_explained_is_on_the_page() -> None:
    found = page.score(module_of(outcome(killed=True), outcome(killed=False, reached=0)), [])
    assert not found.good
    text = page.page([found, page.score(Kept(path="a/idle.py", digest="d"), [])])
    assert "| `a/gate.py` | 2 of 9 | 1 | 0 | 0 | 1 | 50 | 2026-03-02 |" in text
    assert "| `a/idle.py` | not run |" in text
    assert "- `a/gate.py:4`, which no test reaches: `n + 1` as `n - 1`" in text


def test_an_explanation_whose_line_is_gone_or_whose_mutant_is_killed_is_told(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "gate.py").write_text("    n + 1\n")
    assert explained.stale([SAME], tmp_path) == []
    (tmp_path / "a" / "gate.py").write_text("    n + 2\n")
    assert explained.stale([SAME], tmp_path) == ["a/gate.py no longer has the line that is explained: n + 1"]
    assert explained.needless([SAME], module_of(outcome(killed=False))) == []
    assert explained.needless([SAME], module_of(outcome(killed=True))) == [
        "a/gate.py: a test kills what is explained: n - 1"
    ]
    both = module_of(outcome(killed=True), outcome(killed=False))  # two lines of one text, as every break is
    assert explained.needless([SAME], both) == []


def test_every_explanation_of_this_project_has_its_line_and_a_sentence() -> None:
    entries = explained.read()
    assert explained.stale(entries) == []
    assert {one.module for one in entries} <= {module.path for module in MODULES}
    assert all(one.why.endswith(".") for one in entries)


def test_modules_of_one_name_are_kept_apart_and_run_together(tmp_path: Path) -> None:
    body, standalone, *_ = named(["key_groups"])
    kept.keep(dataclasses.replace(kept.read(body, tmp_path), outcomes={"0": outcome(killed=True)}), tmp_path)
    assert kept.read(body, tmp_path).outcomes
    assert kept.read(standalone, tmp_path) == Kept(path=standalone.path, digest=kept.read(standalone).digest)
    kept.keep(kept.read(standalone, tmp_path), tmp_path)
    assert kept.read(body, tmp_path).outcomes


def test_every_module_has_tests_and_is_listed_once() -> None:
    assert all(module.tests() for module in MODULES)
    assert len({module.path for module in MODULES}) == len(MODULES)
    with pytest.raises(ValueError, match="no module is named gates; there are registration"):
        named(["gates"])


def test_functions_that_are_in_memory_become_the_mutants(tmp_path: Path) -> None:
    text = "class A:\n    def one(self):\n        return [n + 1 for n in (1, 2)]\n\n\ndef two():\n    return 2\n"
    path = tmp_path / "patched.py"
    path.write_text(text)
    there: dict[str, object] = {"__name__": "patched"}
    exec(compile(text, str(path), "exec"), there)
    one, two = there["A"]().one, there["two"]  # type: ignore[operator]
    functions = Functions(str(path), text)
    functions.become(text.replace("n + 1", "n - 1").replace("(1, 2)", "(1,\n 2)"))
    assert (one(), two()) == ([0, 1], 2)  # type: ignore[operator]
    functions.become(text.replace("return 2", "return 3"))
    assert (one(), two()) == ([2, 3], 3)  # type: ignore[operator]
