"""Whatever fails, and wherever everything stops: a query that starts has all of its state, or cannot start."""

from __future__ import annotations

import contextlib
import dataclasses
import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from local_files import Crash, LocalFiles
from small_spark import CannotStart, SmallSpark, key_groups_of, made, run_batch, state

from streamjob_agent.repartition.journal import Stage
from streamjob_agent.repartition.operation import Change
from streamjob_agent.repartition.values import Refused

ROWS = {f"k{number}": number for number in range(40)}
MOST_STEPS = 400


def change(root: Path, files: LocalFiles | None = None, engine: SmallSpark | None = None) -> Change:
    return Change(
        files=files or LocalFiles(), engine=engine or SmallSpark(), checkpoint=str(root), tell=lambda sentence: None
    )


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return made(tmp_path / "checkpoint", ROWS)


def starts_right_or_not_at_all(root: Path) -> None:
    with contextlib.suppress(CannotStart):
        assert state(root) == ROWS


def steps_of(tmp_path: Path, do: Callable[[Path, LocalFiles], None], *, atomic: bool) -> int:
    files = LocalFiles(atomic=atomic)
    do(made(tmp_path / "counted", ROWS), files)
    assert 0 < files.steps < MOST_STEPS
    return files.steps


@pytest.mark.parametrize("wanted", [8, 3, 1])
def test_the_query_has_all_of_its_state_over_another_number_of_key_groups(root: Path, wanted: int) -> None:
    change(root).run(wanted)
    assert state(root) == ROWS
    assert key_groups_of(root) == wanted
    assert change(root).stage() is Stage.WAITING


@pytest.mark.parametrize("atomic", [True, False])
def test_a_crash_at_any_step_leaves_a_query_that_is_right_or_does_not_start(tmp_path: Path, atomic: bool) -> None:
    whole = steps_of(tmp_path, lambda root, files: change(root, files).run(8), atomic=atomic)
    for dies_at in range(whole):
        root = made(tmp_path / f"dies-{dies_at}", ROWS)
        with pytest.raises(Crash):
            change(root, LocalFiles(dies_at=dies_at, atomic=atomic)).run(8)
        starts_right_or_not_at_all(root)
        if change(root).stage() is Stage.WAITING:  # all but the last sentence
            continue
        change(root, LocalFiles(atomic=atomic)).run(8)
        assert state(root) == ROWS
        assert key_groups_of(root) == 8


@pytest.mark.parametrize("atomic", [True, False])
def test_two_crashes_do_no_harm_either(tmp_path: Path, atomic: bool) -> None:
    whole = steps_of(tmp_path, lambda root, files: change(root, files).run(8), atomic=atomic)
    for first in range(whole - 12, whole, 3):
        for second in range(0, 12, 2):
            root = made(tmp_path / f"dies-{first}-{second}", ROWS)
            for dies_at in (first, second):
                with contextlib.suppress(Crash, Refused):
                    change(root, LocalFiles(dies_at=dies_at, atomic=atomic)).run(8)
                starts_right_or_not_at_all(root)
            with contextlib.suppress(Refused):
                change(root).run(8)
            assert state(root) == ROWS
            assert key_groups_of(root) == 8


@pytest.mark.parametrize("atomic", [True, False])
def test_a_crash_while_going_back_leaves_a_query_that_is_right_or_does_not_start(tmp_path: Path, atomic: bool) -> None:
    def there_and_back(root: Path, files: LocalFiles) -> None:
        change(root).run(8)
        change(root, files).undo()

    whole = steps_of(tmp_path, there_and_back, atomic=atomic)
    for dies_at in range(whole):
        root = made(tmp_path / f"dies-{dies_at}", ROWS)
        with pytest.raises(Crash):
            there_and_back(root, LocalFiles(dies_at=dies_at, atomic=atomic))
        starts_right_or_not_at_all(root)
        change(root).undo()
        assert state(root) == ROWS
        assert key_groups_of(root) == 4
        assert change(root).stage() is Stage.NONE


@pytest.mark.parametrize("atomic", [True, False])
def test_a_failure_at_any_step_leaves_the_old_state_in_its_place(tmp_path: Path, atomic: bool) -> None:
    whole = steps_of(tmp_path, lambda root, files: change(root, files).run(8), atomic=atomic)
    for fails_at in range(whole):
        root = made(tmp_path / f"fails-{fails_at}", ROWS)
        with pytest.raises((OSError, Refused)):
            change(root, LocalFiles(fails_at=fails_at, atomic=atomic)).run(8)
        assert state(root) == ROWS
        assert key_groups_of(root) == 4
        assert change(root).stage() is Stage.NONE


def test_what_spark_fails_at_leaves_the_checkpoint_as_it_was(root: Path) -> None:
    was = {name: (root / name).read_bytes() for name, _ in LocalFiles().walk(str(root))}
    with pytest.raises(Refused):
        change(root, engine=SmallSpark(fails=True)).run(8)
    assert {name: (root / name).read_bytes() for name, _ in LocalFiles().walk(str(root))} == was
    assert change(root).stage() is Stage.NONE


def _lose_a_key(copy: Path) -> None:
    _edit(copy, lambda rows: {key: value for key, value in rows.items() if key != "k7"})


def _swap_values(copy: Path) -> None:
    _edit(copy, lambda rows: {key: value + (key == "k7") for key, value in rows.items()})


def _edit(copy: Path, edit: Callable[[dict[str, int]], dict[str, int]]) -> None:
    for file in copy.glob("state/0/*/8.json"):
        file.write_text(json.dumps(edit(json.loads(file.read_text()))))


def _misplace(copy: Path) -> None:
    first, second = (copy / f"state/0/{group}/8.json" for group in (0, 1))
    rows = json.loads(first.read_text())
    second.write_text(json.dumps({**json.loads(second.read_text()), **rows}))
    first.write_text("{}")


@pytest.mark.parametrize(
    ("harm", "said"),
    [
        (_lose_a_key, "had 40 rows of state and has 39"),
        (_swap_values, "other values"),
        (_misplace, "no task would look"),
    ],
)
def test_a_copy_that_is_not_right_is_not_used(root: Path, harm: Callable[[Path], None], said: str) -> None:
    with pytest.raises(Refused, match=said):
        change(root, engine=SmallSpark(harm=harm)).run(8)
    assert state(root) == ROWS
    assert key_groups_of(root) == 4


def test_a_query_that_runs_meanwhile_keeps_its_checkpoint(root: Path) -> None:
    newer = {**ROWS, "k0": 100}
    with pytest.raises(Refused, match="has run meanwhile"):
        change(root, engine=SmallSpark(harm=lambda _: run_batch(root, newer, 7, 4))).run(8)
    assert state(root) == newer
    assert change(root).stage() is Stage.NONE


def test_the_old_state_stays_until_a_batch_is_finished(root: Path) -> None:
    change(root).run(8)
    assert not change(root).clean()
    (root / "offsets" / "8").write_text((root / "offsets" / "7").read_text())
    assert change(root).stage() is Stage.BEGUN
    with pytest.raises(Refused, match="A batch has begun"):
        change(root).undo()
    with pytest.raises(Refused, match="no batch has been finished since"):
        change(root).run(16)
    run_batch(root, ROWS, 8, 8)
    assert change(root).stage() is Stage.DONE
    assert change(root).clean()
    assert change(root).stage() is Stage.NONE


def test_one_change_may_follow_another(root: Path) -> None:
    change(root).run(8)
    run_batch(root, ROWS, 8, 8)
    change(root).run(4)
    assert state(root) == ROWS
    assert key_groups_of(root) == 4


def test_the_same_change_once_more_is_done_already(root: Path) -> None:
    """Whoever lost the answer, as a controller that was ended meanwhile, may ask again."""
    change(root).run(8)
    change(root).run(8)
    assert (state(root), key_groups_of(root)) == (ROWS, 8)
    with pytest.raises(Refused, match="An earlier change is in its place"):
        change(root).run(16)


def test_nobody_is_to_end_it_while_no_query_could_start(root: Path) -> None:
    looks: list[bool] = []

    @contextlib.contextmanager
    def unbroken() -> Iterator[None]:
        assert state(root) == ROWS
        looks.append(True)
        yield
        assert state(root) == ROWS

    made = dataclasses.replace(change(root), unbroken=unbroken)
    made.run(8)
    made.undo()
    assert looks == [True, True]
