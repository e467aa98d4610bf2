"""What the soak is made of: samples and their growth, its page, what happens to queries, what is done to executors."""

from __future__ import annotations

import dataclasses
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, cast

import pytest

sys.path.append(str(Path(__file__).parents[2]))

from bare_status import bare_status
from e2e.compatibility.running import NotSeen, Running
from e2e.soak import page, samples
from e2e.soak.disturb import DRAIN_S, KILL_S, PATIENCE_S, Disturber
from e2e.soak.lives import LONGEST_S, ON_PURPOSE, Life, Sink, Tally, fate
from e2e.soak.samples import Sample
from jobs.processes import executor_processes

from streamjob_agent.wire import AgentStatus, ExecutorStatus, QueryStatus

ONE = Sample(at_s=0.0, starts=1, failed_starts=0, lives=1, **dict.fromkeys(samples.HELD, 100))
TOLD: dict[str, Any] = {
    **dict.fromkeys(("exact", "started", "stopped", "failed_on_purpose", "given_up", "refused", "sessions"), 7),
    "wrong": [],
}
DID = dict.fromkeys(("moves", "drained", "called_off", "killed", "refused"), 5)


def hours(heap: Any) -> list[Sample]:
    """Two hours of samples, a minute apart, with two starts in each."""
    return [
        dataclasses.replace(ONE, at_s=60.0 * i, starts=2 * i, lives=i, heap_bytes=int(heap(i / 60))) for i in range(121)
    ]


def run_of(found: list[Sample], alone: list[Sample] | None = None, **told: Any) -> page.Run:
    program = {**TOLD, **told}
    return page.Run(
        day="2026-01-01",
        spark="4.3.0",
        order={"at_once": 3, "every_s": 45.0},
        program=program,
        controller=DID,
        samples=found,
        alone=alone,
    )


def test_a_query_that_hangs_is_wrong_and_one_that_runs_at_the_end_is_not(tmp_path: Path) -> None:
    """It would else be counted nowhere: it does not fail, and has no answer."""
    tally, given = Tally(), fate(random.Random(1))
    for number, begun_s in enumerate((100.0, 100.0 + LONGEST_S)):
        Life(f"life-{number}", given, tmp_path / str(number), tally, begun_s).leave(101.0 + LONGEST_S)
    assert tally.wrong == [f"life-0, {given.shape}: not done after 1801 s, 0 of {given.files} files taken in"]


def test_what_fills_up_at_first_and_then_stays_is_level() -> None:
    found = samples.growth(hours(lambda hour: 100e6 * min(1.0, hour * 2)), "heap_bytes")
    assert found.level
    assert found.median == 100e6
    assert found.an_hour.mean == 0.0


def test_a_leak_of_a_tenth_an_hour_is_not_level_however_it_jumps() -> None:
    chance = random.Random(1)
    found = samples.growth(hours(lambda hour: 100e6 * (1 + hour / 10) + chance.gauss(0, 3e6)), "heap_bytes")
    assert not found.level
    assert found.an_hour.low < 10e6 < found.an_hour.high


def test_what_never_changes_grows_by_nothing_however_seldom_queries_start() -> None:
    still = [dataclasses.replace(one, starts=one.starts // 10) for one in hours(lambda _: 0)]
    assert samples.growth(still, "heap_bytes").a_start == samples.Slope(mean=0.0, low=0.0, high=0.0)


def test_what_shrinks_is_level() -> None:
    assert samples.growth(hours(lambda hour: 100e6 * (1 - hour / 10)), "heap_bytes").level


def test_too_few_samples_say_nothing() -> None:
    with pytest.raises(ValueError, match="2 after the first third"):
        samples.growth(hours(lambda hour: 1)[:3], "heap_bytes")


def test_samples_are_read_as_they_were_kept_without_a_line_that_was_cut(tmp_path: Path) -> None:
    path = tmp_path / "samples.jsonl"
    samples.keep(ONE, path)
    with path.open("a") as out:
        out.write('{"at_s": 3')
    assert samples.read(path) == [ONE]


def test_what_spark_alone_leaves_behind_for_each_query_is_not_the_agents() -> None:
    ours, slower = hours(lambda hour: 100e6 * (1 + hour)), hours(lambda hour: 100e6 * (1 + hour / 2))
    assert run_of(ours).verdict("heap_bytes") == "grows; Spark alone was not run"
    assert run_of(ours, ours).verdict("heap_bytes") == "as Spark alone"
    assert run_of(ours, ours).good
    assert run_of(ours, slower).verdict("heap_bytes") == page.GROWS
    assert not run_of(ours, slower).good
    half_as_many = [dataclasses.replace(one, starts=one.starts // 2) for one in slower]
    assert run_of(ours, half_as_many).verdict("heap_bytes") == "as Spark alone"


def test_a_start_that_fails_for_want_of_a_worker_leaves_nothing_behind_and_is_not_counted() -> None:
    ours = hours(lambda hour: 100e6 * (1 + hour))
    twice = [dataclasses.replace(one, starts=2 * one.starts, failed_starts=one.starts) for one in ours]
    assert run_of(ours, twice).verdict("heap_bytes") == "as Spark alone"


def test_the_page_says_what_leaks_and_what_was_wrong() -> None:
    found = hours(lambda hour: 100e6 * (1 + hour))
    leaking = run_of(found, hours(lambda hour: 100e6), wrong=["life-3, counts: 5 rows are right, 4 found"])
    text = page.page(leaking)
    assert not leaking.good
    (heap,) = [line for line in text.splitlines() if line.startswith("| heap")]
    assert heap.endswith("| **grows** |")
    assert "| +100 (+100 to +100) | +83.3 (+83.3 to +83.3) | +0 (+0 to +0) |" in heap
    assert "Wrong: life-3, counts" in text


def test_a_run_is_good_when_all_is_level_and_exact() -> None:
    assert run_of(hours(lambda hour: 100e6)).good
    assert not run_of(hours(lambda hour: 100e6), wrong=["something"]).good


def test_a_worker_that_a_busy_machine_started_too_late_is_told_and_no_fault() -> None:
    late = f"life-3, lives: {page.STARVED}. === Streaming Query === Identifier: life-3"
    starved = dataclasses.replace(
        run_of(hours(lambda hour: 100e6), wrong=[late]), program_alone={"wrong": [late, late]}
    )
    assert starved.good
    text = page.page(starved)
    assert "started again | 1; without the agent 2 |" in text
    assert "nobody wanted | 0 |" in text
    assert "Wrong:" not in text


def test_the_picture_has_a_panel_for_each_quantity(tmp_path: Path) -> None:
    page.draw(run_of(hours(lambda hour: 100e6), hours(lambda hour: 90e6)), tmp_path / "pictures" / "soak.png")
    assert (tmp_path / "pictures" / "soak.png").stat().st_size > 10_000


def test_fates_are_of_every_kind_and_the_same_for_the_same_seed() -> None:
    fates = [fate(random.Random(seed)) for seed in range(300)]
    assert fates == [fate(random.Random(seed)) for seed in range(300)]
    assert any(one.given_up for one in fates)
    assert all(one.fails_at for one in fates if one.given_up)
    assert any(one.stops_at and one.fails_at and not one.given_up for one in fates)
    assert any(one.own_session for one in fates)
    assert any(one.session_a_batch for one in fates)


def test_a_sink_fails_once_at_its_batch_and_keeps_the_newest_row_of_a_key(tmp_path: Path) -> None:
    @dataclasses.dataclass
    class Frame:
        """Rows of a batch."""

        rows: list[list[Any]]

        def collect(self) -> list[list[Any]]:
            """All of them."""
            return self.rows

    given = dataclasses.replace(fate(random.Random(1)), fails_at=frozenset({1}), session_a_batch=False)
    sink = Sink(tmp_path / "said", given)
    sink(Frame([["k1", 1], ["k2", 1]]), 0)
    with pytest.raises(RuntimeError, match=ON_PURPOSE):
        sink(Frame([["k1", 2]]), 1)
    sink(Frame([["k1", 2], ["end", 2]]), 1)
    assert sink.batches() == 2
    assert sink.rows(newest=True) == [["k1", 2], ["k2", 1]]
    assert sink.rows(newest=False) == [["k1", 1], ["k1", 2], ["k2", 1]]


class Obedient:
    """An agent that takes every assignment, or refuses each."""

    def __init__(self, refuses: bool = False) -> None:
        self.refuses = refuses
        self.assigned: list[dict[str, Any]] = []
        self.killed: list[str] = []

    def assign(self, status: AgentStatus, query_id: str, **fields: Any) -> None:
        """Keep it."""
        if self.refuses:
            raise NotSeen("refused")
        self.assigned.append(fields)

    def kill_executor(self, status: AgentStatus, executor_id: str) -> None:
        """Keep it."""
        self.killed.append(executor_id)


def seen(states: dict[str, str], groups: int = 2) -> AgentStatus:
    return bare_status(
        agent_version="1",
        spark_version="4.3.0",
        application_id="app",
        reason="",
        executors=tuple(
            ExecutorStatus(executor_id=name, host="h", cores=1, state=state, groups=groups)
            for name, state in states.items()
        ),
        queries=(QueryStatus(query_id="q", run_id="r", name="n", batch_id=1, owners={0: ("1", "2", "3")}),),
    )


ALL = {"1": "ready", "2": "ready", "3": "ready"}


def disturber(agent: Obedient) -> Disturber:
    return Disturber(cast(Running, agent), random.Random(3), 0.0)


def test_key_groups_go_to_executors_that_stay_and_those_that_lack_are_asked_for() -> None:
    agent = Obedient()
    disturber(agent).step(seen({"1": "ready", "2": "dead"}), 0.0)
    (sent,) = agent.assigned
    assert set(sent["owners"][0]) == {"1"}
    assert sent["executors_target"] == 3


def test_a_drained_executor_is_removed_once_it_is_empty() -> None:
    agent = Obedient()
    control = disturber(agent)
    control._leaver = "2"
    control.step(seen(ALL, groups=0), 1.0)
    assert agent.assigned[0]["remove"] == ("2",)
    assert agent.assigned[0]["executors_target"] == 2
    control.step(seen({**ALL, "2": "dead"}), 2.0)
    assert (control.done.drained, control._leaver) == (1, None)


def test_a_drain_that_does_not_end_is_called_off() -> None:
    control = disturber(Obedient())
    control._leaver = "2"
    control.step(seen(ALL), PATIENCE_S + 1)
    assert (control.done.called_off, control._leaver) == (1, None)


def test_an_executor_is_killed_now_and_then_but_only_while_all_are_there() -> None:
    agent = Obedient()
    control = disturber(agent)
    control._next_s["drain"] = 1e9
    control.step(seen({**ALL, "3": "dead"}), KILL_S + 1)
    assert not agent.killed
    control.step(seen({**ALL, "3": "draining"}), KILL_S + 2)
    assert len(agent.killed) == 1


def test_without_an_agent_an_executor_is_killed_where_one_would_be_drained_too(monkeypatch: pytest.MonkeyPatch) -> None:
    killed: list[int] = []
    monkeypatch.setattr("os.kill", lambda process, _: killed.append(process))
    control, running = disturber(Obedient()), {"1": 11, "2": 12, "3": 13}
    control.step_alone(running, DRAIN_S - 1)
    control.step_alone({"1": 11}, KILL_S + 1)
    assert killed == []
    control.step_alone(running, KILL_S + 2)
    control.step_alone(running, KILL_S + 3)
    assert len(killed) == control.done.killed == 2
    assert set(killed) <= set(running.values())


def test_only_executors_of_ones_own_driver_are_found() -> None:
    """Two drivers of one machine may give their applications the same name."""
    command = [sys.executable, "-c", "import time; time.sleep(60)", "--executor-id", "7", "--app-id", "app-1"]
    starter = "import subprocess, sys; subprocess.run(sys.argv[1:])"
    driver = subprocess.Popen([sys.executable, "-c", starter, *command], start_new_session=True)
    try:
        until_s = time.monotonic() + 60
        while not (found := executor_processes(driver.pid, "app-1")) and time.monotonic() < until_s:
            time.sleep(0.05)
        assert list(found) == ["7"]
        assert executor_processes(driver.pid, "app-2") == {}
        assert found["7"] in executor_processes(os.getpid(), "app-1").values()
        assert executor_processes(found["7"], "app-1") == {}
    finally:
        os.killpg(driver.pid, signal.SIGKILL)
        driver.wait(10)


def test_a_refused_assignment_is_counted_and_no_move() -> None:
    control = disturber(Obedient(refuses=True))
    control.step(seen(ALL), 0.0)
    assert (control.done.refused, control.done.moves) == (1, 0)
