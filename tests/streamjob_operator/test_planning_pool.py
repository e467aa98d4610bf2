"""Planning in other processes: plans come back whole, and a planner that overruns or dies is ended and replaced."""

from __future__ import annotations

import contextlib
import re
import sys
import textwrap
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from worlds import World, job

from streamjob_operator.cycle import run_cycle
from streamjob_operator.planning_pool import PlanningPool
from streamjob_operator.ports import Overran, Ports, Starting
from streamjob_operator.steps.estimate import estimate
from streamjob_operator.steps.solve import albic_settings, in_process
from streamjob_operator.values import Memory, Reason
from streamjob_planners.model import PlanParams
from streamjob_planners.verify import verify

JOB = job()
SETTINGS = albic_settings(JOB.spec.balancing.collocation)
PARAMS = PlanParams(deadline_s=5.0)
Making = Callable[..., PlanningPool]


@pytest.fixture
def making(tmp_path: Path) -> Iterator[Making]:
    """Pools of processes that load nothing and whose planner is a few lines of a test."""
    pools: list[PlanningPool] = []

    def make(planner: str, size: int = 1) -> PlanningPool:
        script = tmp_path / "worker.py"
        script.write_text(_SCRIPT.format(planner=textwrap.indent(planner, "    ")))
        pools.append(PlanningPool(size, (sys.executable, str(script)), wait_s=60.0))
        return pools[-1]

    yield make
    for pool in pools:
        pool.__exit__()


_SCRIPT = """
import multiprocessing.connection, os, sys, time
pipe = multiprocessing.connection.Connection(int(sys.argv[1]))
pipe.send("ready")
while True:
    try:
        task = pipe.recv()
    except EOFError:
        break
{planner}
    pipe.send(answer)
"""
SLEEPS_ONCE = """
if task == "sleep":
    time.sleep(60)
answer = task
"""


def skewed() -> World:
    return World(loads=[30.0, 20.0, 10.0, 5.0], owners=["0"] * 4, executors={"0": "ready", "1": "ready"})


def test_a_plan_of_another_process_is_as_good_as_one_of_this() -> None:
    model = estimate(skewed().observe(1000.0, 10.0), Memory()).model
    with PlanningPool(wait_s=300.0) as pool:
        planner = pool.planner("greedy", SETTINGS)
        there = planner.solve(model, PARAMS, np.random.default_rng(1), lambda: 0.0)
        again = planner.solve(model, PARAMS, np.random.default_rng(1), lambda: 0.0)
        with pytest.raises(RuntimeError, match="no-such-planner"):
            pool.planner("no-such-planner", SETTINGS).solve(model, PARAMS, np.random.default_rng(1), lambda: 0.0)
        assert pool.kills == 0
    here = in_process("greedy", SETTINGS).solve(model, PARAMS, np.random.default_rng(1), lambda: 0.0)
    assert there.moves == again.moves == here.moves
    assert len(there.moves) > 0
    assert verify(model, there, PARAMS) == ()


def test_a_process_that_overruns_is_ended_and_replaced(making: Making) -> None:
    pool = making(SLEEPS_ONCE)
    with pytest.raises(Overran, match="ended after"):
        pool.run("sleep", 0.2)
    assert pool.kills == 1
    assert pool.run("hello", 30.0) == "hello"


def test_a_process_that_dies_is_replaced(making: Making) -> None:
    pool = making("if task == 'die':\n    os._exit(1)\nanswer = task")
    with pytest.raises(RuntimeError, match="has died"):
        pool.run("die", 30.0)
    assert pool.run("hello", 30.0) == "hello"


def test_a_process_that_could_not_be_replaced_is_started_once_there_is_room(making: Making) -> None:
    """As where a node's limit of processes was reached for a moment: planning would be over for good."""
    pool = making("if task == 'die':\n    os._exit(1)\nanswer = task", size=2)
    command, pool._command = pool._command, ("/there/is/no/such/program",)
    for _ in range(2):
        with pytest.raises(RuntimeError, match="has died"):
            pool.run("die", 30.0)
    assert pool._all == set()
    pool._command = command
    assert pool.run("hello", 30.0) == "hello"
    assert len(pool._all) == 2


def test_a_giant_job_does_not_hold_up_the_others(making: Making) -> None:
    pool = making(SLEEPS_ONCE, size=2)
    results: list[str] = []

    def giant() -> None:
        try:
            pool.run("sleep", 20.0)
        except (Overran, RuntimeError):
            results.append("giant")

    thread = threading.Thread(target=giant)
    thread.start()
    for _ in range(5):
        results.append(str(pool.run("small", 30.0)))
    pool.__exit__()  # ends the giant's process, too
    thread.join(30.0)
    assert not thread.is_alive()
    assert results[:5] == ["small"] * 5


def test_giants_leave_one_process_to_the_others(making: Making) -> None:
    pool = making(SLEEPS_ONCE, size=2)

    def giant() -> None:
        with contextlib.suppress(Overran, RuntimeError):
            pool.run("sleep", 60.0, large=True)

    threads = [threading.Thread(target=giant, daemon=True) for _ in range(2)]
    for thread in threads:
        thread.start()
    assert pool.run("small", 30.0) == "small"
    assert pool.kills == 0


def test_a_closed_pool_leaves_no_process_behind(making: Making) -> None:
    pool = making(SLEEPS_ONCE, size=2)
    processes = [worker._process for worker in pool._all]
    pool.__exit__()
    assert [process.poll() for process in processes] == [-9, -9]


def test_a_process_that_still_loads_is_not_waited_for(tmp_path: Path) -> None:
    script = tmp_path / "worker.py"
    go_on = tmp_path / "loaded"
    loading = f"import os, time\nwhile not os.path.exists({str(go_on)!r}):\n    time.sleep(0.01)\n"
    script.write_text(loading + _SCRIPT.format(planner="    answer = task"))
    world, memory = skewed(), Memory()
    with PlanningPool(1, (sys.executable, str(script)), wait_s=0.01) as pool:
        ports = Ports(metrics=world, actuator=world, memory=world, planning=pool)
        for now_s in (1000.0, 1010.0):
            memory, record = run_cycle(ports, JOB, memory, now_s, np.random.default_rng(1), lambda: 0.0)
        assert record.verdict.reason is Reason.PLANNER_STARTING
        assert re.search(r"compiling loops for \d+ s\.$", record.verdict.message)
        go_on.touch()
        [worker] = pool._all
        assert worker.ready(60.0)
        assert pool.run("hello", 30.0) == "hello"
        assert pool.kills == 0


LOADS_FIRST = """
if task == "new" and not globals().get("loaded"):
    pipe.send("loading")
    while not os.path.exists({there!r}):
        time.sleep(0.01)
    loaded, answer = True, "ready"
else:
    answer = task
"""


def test_a_planner_that_was_not_asked_for_yet_is_loaded_on_nobodys_clock(making: Making, tmp_path: Path) -> None:
    there = tmp_path / "solver"
    pool = making(LOADS_FIRST.format(there=str(there)))
    pool._wait_s = 0.01
    [worker] = pool._all
    assert worker.ready(60.0)
    with pytest.raises(Starting):
        pool.run("new", 30.0)
    with pytest.raises(Starting):
        pool.run("other", 30.0)
    there.touch()
    assert worker.ready(60.0)
    assert pool.run("new", 30.0) == "new"
    assert pool.kills == 0


def test_the_cycle_survives_a_planner_that_overruns(making: Making) -> None:
    world, pool = skewed(), making("time.sleep(60)\nanswer = None")
    ports = Ports(metrics=world, actuator=world, memory=world, planning=pool)
    quick = job(("planDeadline: 5s", "planDeadline: 50ms"))
    memory = Memory()
    for now_s in (1000.0, 1010.0):
        memory, record = run_cycle(ports, quick, memory, now_s, np.random.default_rng(1), lambda: 0.0)
    assert record.verdict.reason is Reason.PLANNER_OVERRAN
    assert "0.05 s" in record.verdict.message
    assert world.assignments == []
    assert pool.kills == 1
