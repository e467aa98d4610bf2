"""Key groups between two lives of a driver: what is done in which order, and what becomes of every way to fail."""

from __future__ import annotations

from pathlib import Path

import pytest
from key_group_cycles import job, record

from streamjob_operator.spec.restart import Restart
from streamjob_operator.standalone.key_groups import BEGUN, STOP_DEADLINE_S, KeyGroupChange, Wanted
from streamjob_operator.standalone.submission import STOP_GRACE_S
from streamjob_operator.standalone.supervisor import Supervisor


class World:
    """A driver and the operation, as processes are seen; what happens is written down in order."""

    def __init__(self, folder: Path) -> None:
        self.done: list[str] = []
        self.told: list[str] = []
        self.wanted: int | None = None
        self.driver_code: int | None = None
        self.code: int | None = None
        self.left: int | None = None
        self.cannot_start: OSError | None = None
        self.words: tuple[str, ...] = ("a sentence of its own",)
        self.now_s = 100.0
        self.folder = folder
        self.again()

    def again(self) -> None:
        """A new controller."""
        self.change = KeyGroupChange(Driver(self), Operation(self), lambda: self.wanted, self.folder, self.told.append)
        self.supervisor = Supervisor(Driver(self), Restart(), self.told.append, self.change.tick)

    def tick(self, times: int = 3) -> list[str]:
        """What was done meanwhile."""
        before = len(self.done)
        for _ in range(times):
            self.now_s += 0.2
            self.supervisor.tick(self.now_s)
        return self.done[before:]


class Driver:
    def __init__(self, world: World) -> None:
        self._world = world

    def start(self) -> None:
        self._world.done.append("start")
        self._world.driver_code = None

    def exit_code(self) -> int | None:
        return self._world.driver_code

    def ask_to_stop(self) -> None:
        self._world.done.append("ask to stop")

    def stop(self) -> None:
        self._world.done.append("stop")
        self._world.driver_code = 0

    def last_words(self) -> tuple[str, ...]:
        return ()


class Operation:
    def __init__(self, world: World) -> None:
        self._world = world

    def start(self, key_groups: int | None) -> None:
        if self._world.cannot_start is not None:
            raise self._world.cannot_start
        self._world.code = None
        self._world.done.append("undo" if key_groups is None else f"change to {key_groups}")

    def exit_code(self) -> int | None:
        return self._world.code

    def stop(self) -> None:
        self._world.done.append("end operation")

    def survivor(self) -> int | None:
        return self._world.left

    def last_words(self) -> tuple[str, ...]:
        return self._world.words


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path)


def changing(world: World) -> None:
    assert world.tick() == ["start"]
    world.wanted = 8
    assert world.tick() == ["ask to stop"]
    world.driver_code = 0
    assert world.tick() == ["stop", "change to 8"]


def test_stopped_in_order_changed_and_started_again(world: World) -> None:
    changing(world)
    assert (world.folder / BEGUN).exists()
    world.code = 0
    assert world.tick() == ["end operation", "start"]
    assert not (world.folder / BEGUN).exists()
    assert world.tick(20) == [], "what was measured may be old: it is not done again"
    world.wanted = None
    world.tick()
    world.wanted = 8
    assert world.tick() == ["ask to stop"], "a person who wants it anew"


def test_a_driver_that_does_not_stop_is_ended(world: World) -> None:
    world.tick()
    world.wanted = 8
    world.tick()
    world.now_s += STOP_DEADLINE_S
    assert world.tick() == ["stop", "change to 8"]


@pytest.mark.parametrize(("after_s", "ended"), [(STOP_GRACE_S, False), (STOP_DEADLINE_S, True)])
def test_a_driver_is_ended_at_its_deadline_and_has_all_of_its_own_time_before(
    world: World, after_s: float, ended: bool
) -> None:
    world.wanted = 8
    assert world.change.tick(100.0) is True
    assert world.change.tick(100.0 + after_s) is True
    assert world.done == ["ask to stop", *(["stop", "change to 8"] if ended else [])]


def test_a_driver_that_has_ended_by_itself_is_not_brought_back_by_a_wish(world: World) -> None:
    world.tick()
    world.wanted, world.driver_code = 8, 0
    assert world.tick() == ["stop"]
    assert world.supervisor.ended == 0


def test_what_is_refused_is_told_and_the_query_goes_on_as_it_was(world: World) -> None:
    changing(world)
    world.code = 2
    assert world.tick() == ["end operation", "start"]
    assert "a sentence of its own" in world.told[-1]
    assert world.tick(20) == []
    world.wanted = 16
    assert world.tick() == ["ask to stop"]


def test_an_operation_that_was_killed_is_sent_back(world: World) -> None:
    changing(world)
    world.code = -9
    assert world.tick() == ["end operation", "undo"]
    world.code = 0
    assert world.tick() == ["end operation", "start"]
    assert "the change failed" in world.told[-1]
    assert "ended with -9" in world.told[-1]
    assert world.tick(20) == []


def test_one_that_cannot_be_sent_back_is_told_with_what_it_said_both_times(world: World) -> None:
    """A person may have to look at the checkpoint then."""
    changing(world)
    world.code, world.words = -9, ("at first",)
    world.tick()
    world.code, world.words = 2, ("a batch has begun",)
    assert world.tick() == ["end operation", "start"]
    assert world.told[-1].splitlines()[1:] == [
        "  | at first",
        "  | It ended with -9, so it was asked to go back.",
        "  | It could not be sent back either: it ended with 2.",
        "  | a batch has begun",
    ]


def test_one_whose_way_back_cannot_be_started_is_told_with_why_it_was_to_go_back(world: World) -> None:
    changing(world)
    world.code, world.cannot_start = -9, OSError(12, "no room")
    assert world.tick() == ["end operation", "start"]
    assert world.told[-1].splitlines()[1:] == [
        "  | a sentence of its own",
        "  | It ended with -9, so it was asked to go back.",
        "  | It could not be sent back either: it could not be started: no room.",
    ]


@pytest.mark.parametrize(
    ("error", "why"), [(OSError(12, "no room"), "no room"), (OSError("of its own words"), "of its own words")]
)
def test_one_that_cannot_be_started_is_told(world: World, error: OSError, why: str) -> None:
    world.tick()
    world.wanted, world.cannot_start = 8, error
    world.tick(1)
    world.driver_code = 0
    assert world.tick() == ["stop", "start"]
    assert world.told[-1].splitlines()[1:] == [f"  | It could not be started: {why}."]


def test_a_controller_that_was_killed_goes_on(world: World) -> None:
    changing(world)
    world.left = 4711
    world.again()
    assert world.tick() == [], "the operation of the controller before still runs"
    world.left = None
    assert world.tick() == ["change to 8"]
    world.code = 0
    assert world.tick() == ["end operation", "start"]


def test_a_run_that_ends_ends_the_operation_and_the_next_one_goes_on(world: World) -> None:
    changing(world)
    world.change.stop()
    assert world.done[-1] == "end operation"
    world.again()
    assert world.tick() == ["change to 8"]


def test_a_run_that_ends_while_the_driver_stops_has_begun_nothing(world: World) -> None:
    world.tick()
    world.wanted = 8
    world.tick()
    world.change.stop()
    world.again()
    world.wanted = None
    assert world.tick() == ["start"]


def test_a_folder_that_takes_no_file_leaves_the_driver_running(world: World) -> None:
    """As on a full disk: the job is no worse off for a number that cannot be had."""
    assert world.tick() == ["start"]
    (world.folder / BEGUN).mkdir()
    world.wanted = 8
    assert world.tick() == []
    assert len(world.told) == 1
    assert "There are no 8 key groups" in world.told[0]
    assert f"{BEGUN} could not be written: Is a directory." in world.told[0]
    (world.folder / BEGUN).rmdir()
    world.wanted = 9
    assert world.tick() == ["ask to stop"]


FOUR = (0, 1, 2, 3)
"""As many key groups were measured."""


class Seen:
    """What a run was told, cycle after cycle."""

    def __init__(self, **policy: object) -> None:
        self.told: list[str] = []
        self.wanted = Wanted(job(policy), self.told.append)

    def cycle(self, partitions: tuple[int, ...] | None, proposed: int | None = None) -> list[str]:
        """Sentences of this one."""
        before = len(self.told)
        self.wanted.report(record(partitions, proposed))
        return self.told[before:]


def test_a_proposal_is_told_once_with_what_makes_it() -> None:
    seen = Seen()
    assert seen.cycle(FOUR) == []
    assert seen.cycle(FOUR, 16) == [
        "16 key groups in place of 4 might keep batches shorter; "
        "spec.balancing.keyGroups.count: 16 in the job's file makes them."
    ]
    assert seen.cycle(FOUR, 16) == []
    assert seen.cycle(None) == []
    assert seen.cycle(FOUR, 16) == [], "a cycle that could not measure has forgotten nothing"
    assert len(seen.cycle(FOUR, 32)) == 1
    assert seen.cycle(FOUR) == []


def test_what_the_first_cycle_proposes_is_told_and_before_any_there_is_nothing_to_tell() -> None:
    seen = Seen()
    assert seen.cycle(None) == []
    assert len(seen.cycle(FOUR, 16)) == 1


def test_a_number_is_wanted_by_the_newest_measurement() -> None:
    seen = Seen(count=8)
    assert seen.wanted() is None
    seen.cycle(None)
    assert seen.wanted() is None, "nobody knows yet how many there are"
    seen.cycle(FOUR)
    assert seen.wanted() == 8
    seen.cycle(None)
    assert seen.wanted() == 8
    seen.cycle(tuple(range(8)))
    assert seen.wanted() is None
    seen.wanted.job = job({"count": 16})
    assert seen.wanted() == 16, "the job's file was edited"
