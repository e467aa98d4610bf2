"""What is done to jobs and when, with drivers on paper and one of real processes."""

from __future__ import annotations

import contextlib
import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from jobs import harmed, suite
from jobs.__main__ import main
from jobs.acts import Act, Harm, Victim
from jobs.driver import Process
from jobs.harm import LIMIT_S, Done, Endured, Plan, World, endure, in_batch
from jobs.job import Job
from jobs.processes import children, executor_processes
from jobs.trial import Outcome, sentences

EXECUTOR, DRIVER, DRAINED, BROKER, STORE = Victim
AMOUNTS = suite.Amounts(seed=3, rows=10, batches=8, key_groups=4)


def job(name: str) -> Job:
    return Job(name=name, source="", about="", streams={}, queries=[], generate=lambda rng, rows: iter([]))


class Paper:
    """A driver and what is around it: a job commits a batch each ten seconds, whose task takes five.

    An executor that is to be drained goes `drain_s` after it was asked for.
    """

    def __init__(self, batches: int = 8, task_s: float = 5.0) -> None:
        self.batches, self.task_s = batches, task_s
        self.clock_s, self.began_s = 0.0, 0.0
        self.committed = 0
        self.told: list[str] = []
        self.outcomes: set[str] = set()
        self.left: Sequence[Job] = ()
        self.fails: str | None = None
        self.stuck = False
        self.executors = True
        self.drain_s, self.asked_s = 7.0, float("nan")

    def start(self, jobs: Sequence[Job]) -> None:
        self.told.append("start " + " ".join(one.name for one in jobs))
        self.left, self.began_s, self.fails = list(jobs), self.clock_s, None

    def ended(self) -> str | None:
        return self.fails

    def kill_executor(self, chance: random.Random) -> bool:
        self.told.append(f"executor after {self.committed}")
        return self.executors

    def kill(self) -> None:
        self.told.append(f"driver after {self.committed}")

    def stall(self, victim: Victim, for_s: float) -> bool:
        self.told.append(f"{victim.name} for {for_s:.0f} s after {self.committed}")
        return True

    def drain(self) -> bool:
        if self.asked_s != self.asked_s:
            self.told.append(f"drain after {self.committed}")
            self.asked_s = self.clock_s
        return self.clock_s >= self.asked_s + self.drain_s

    def commits(self, one: Job) -> int:
        return self.committed

    def in_batch(self, one: Job, after: int) -> bool:
        return self.committed >= after and (self.clock_s - self.began_s) % 10 < self.task_s

    def done(self, one: Job) -> bool:
        return one.name in self.outcomes

    def now_s(self) -> float:
        return self.clock_s

    def sleep(self, seconds: float) -> None:
        before, self.clock_s = self.clock_s, self.clock_s + seconds
        if self.stuck or (self.clock_s - self.began_s) // 10 == (before - self.began_s) // 10:
            return
        self.committed += 1
        if self.committed == self.batches:
            self.outcomes.add(self.left[0].name)
            self.left, self.committed = self.left[1:], 0


def plan(harm: Harm, paper: Paper) -> Plan:
    return lambda _: harm.acts(paper.batches, random.Random(1))


def world(paper: Paper, seed: int = 1) -> World:
    return World(driver=paper, around=paper, watch=paper, chance=random.Random(seed))


def endured(paper: Paper, *names: str, harm: Harm) -> list[Endured]:
    return list(endure(world(paper), [job(one) for one in names], plan(harm, paper)))


def done(one: Endured) -> list[Victim]:
    return [each.act.victim for each in one.done]


def test_every_job_has_all_kills_and_a_new_driver_goes_on_with_those_that_are_left() -> None:
    paper = Paper()
    first, second = endured(paper, "a", "b", harm=Harm(executors=1, driver=True))
    assert (first.job, second.job) == ("a", "b")
    assert done(first) == done(second) == [EXECUTOR, DRIVER]
    assert first.undone == second.undone == ()
    assert first.failure is second.failure is None
    one_job = ["executor after 2", "driver after 5"]
    assert paper.told == ["start a b", *one_job, "start a b", *one_job, "start b"]
    assert 80 <= first.took_s < 90


def test_a_batch_that_ends_before_it_is_hit_is_let_go() -> None:
    paper = Paper(task_s=0.01)
    (one,) = endured(paper, "a", harm=Harm(executors=1, driver=True))
    assert not one.done
    assert paper.told == ["start a"]


@pytest.mark.parametrize("seed", range(20))
def test_batches_that_are_short_are_hit_sooner_after_each_miss(seed: int) -> None:
    """Of a second's quarter: a warm driver on a machine that does nothing else."""
    paper = Paper(task_s=0.25)
    (one,) = endure(world(paper, seed), [job("a")], plan(Harm(executors=1, driver=True), paper))
    assert done(one) == [EXECUTOR, DRIVER]


def test_an_executor_that_is_not_there_is_tried_again_with_the_next_chance() -> None:
    paper = Paper()
    paper.executors = False
    (one,) = endured(paper, "a", harm=Harm(executors=1))
    assert [act.victim for act in one.undone] == [EXECUTOR]
    assert len(paper.told) > 2


def test_acts_by_time_wait_for_their_second_and_not_for_each_other() -> None:
    """A drain that takes a while holds nobody up; a new driver is killed in a batch of its own at the soonest."""
    paper = Paper()
    acts = [
        Act(victim=DRAINED),
        Act(victim=STORE, at_s=3.0, for_s=2.0),
        Act(victim=DRIVER, at_s=11.0),
        Act(victim=DRIVER, at_s=11.0),
        Act(victim=BROKER, at_s=15.5, for_s=9.0),
    ]
    (one,) = endure(world(paper), [job("a")], lambda _: acts)
    assert paper.told == [
        "start a",
        "drain after 1",
        "STORE for 2 s after 1",
        "driver after 2",
        "start a",
        "BROKER for 9 s after 2",
        "driver after 3",
        "start a",
    ]
    assert done(one) == [STORE, DRAINED, DRIVER, BROKER, DRIVER]
    assert all(each.at_s >= each.act.at_s for each in one.done)
    assert one.done[1].at_s == pytest.approx(7.0, abs=0.2)
    assert one.undone == ()


def test_a_driver_that_ends_by_itself_or_never_is_told_and_the_other_jobs_go_on() -> None:
    paper = Paper()
    paper.fails = "exit code 3"
    paper.start = lambda jobs: paper.told.append(f"start {len(jobs)}")  # type: ignore[method-assign]
    first, second = endured(paper, "a", "b", harm=Harm())
    assert first.failure == second.failure == "the driver has ended by itself, exit code 3"
    assert paper.told == ["start 2", "driver after 0", "start 1"]
    paper = Paper()
    paper.stuck = True
    (never,) = endured(paper, "a", harm=Harm())
    assert never.failure == f"not done within {LIMIT_S:g} s"


def test_a_driver_that_leaves_its_outcome_and_ends_has_not_failed() -> None:
    paper = Paper()
    paper.fails = "exit code 0"
    paper.start = lambda jobs: paper.outcomes.add("a")  # type: ignore[method-assign]
    assert endured(paper, "a", harm=Harm())[0].failure is None


@pytest.mark.parametrize(
    ("offsets", "commits", "after", "met"),
    [
        ((1, 1), (0, 1), 1, True),  # one of two queries is in its second batch
        ((1, 1), (1, 1), 1, False),  # nobody is in a batch
        ((1, 2), (-1, 1), 1, False),  # one has committed none yet
        ((3, 3), (2, 2), 4, False),
        ((4, 3), (3, 3), 4, True),
    ],
)
def test_a_batch_is_on_from_its_offsets_until_its_commit(
    tmp_path: Path, offsets: Sequence[int], commits: Sequence[int], after: int, met: bool
) -> None:
    for query, (begun, ended) in enumerate(zip(offsets, commits, strict=True)):
        for log, newest in (("offsets", begun), ("commits", ended)):
            (tmp_path / str(query) / log).mkdir(parents=True)
            for batch in range(newest + 1):
                (tmp_path / str(query) / log / str(batch)).touch()
                (tmp_path / str(query) / log / f".{batch}.crc").touch()
    assert in_batch([tmp_path / "0", tmp_path / "1"], after) is met
    assert not in_batch([tmp_path / "none"], 1)


JVM = """
import subprocess, sys, time
executor = [sys.executable, "-c", "import time; time.sleep(600)", "--executor-id"]
for number in "01":
    subprocess.Popen([*executor, number])
time.sleep(600)
"""
DRIVER_PROGRAM = f"""
import subprocess, sys, time
print(sys.argv[1:], flush=True)
subprocess.Popen([sys.executable, "-c", {JVM!r}])
time.sleep(600)
"""


@pytest.fixture
def driver(tmp_path: Path) -> Any:
    process = Process([sys.executable, "-c", DRIVER_PROGRAM], tmp_path / "log")
    yield process
    process.end()


def until(found: Any) -> Any:
    until_s = time.monotonic() + 60
    while not (one := found()) and time.monotonic() < until_s:
        time.sleep(0.02)
    return one


def test_a_driver_of_real_processes_loses_an_executor_then_dies_and_leaves_nothing(
    driver: Process, tmp_path: Path
) -> None:
    assert not Process(["true"], tmp_path / "none")._begun  # it begins when it is asked to
    driver.start([job("a"), job("b")])
    first = driver._begun[0]
    executors = until(lambda: len(found := executor_processes(first.pid)) == 2 and found)
    assert driver.kill_executor(random.Random(0))
    (left,) = until(lambda: len(found := alive(executors.values())) == 1 and found)
    (jvm,) = children(first.pid)
    driver.kill()
    assert first.poll() == -9
    assert until(lambda: not alive([jvm]))
    assert alive([left])  # as a cluster's would, it lives until it notices
    driver.start([job("b")])
    assert until(lambda: (tmp_path / "log").read_text() == "['--only', 'a,b']\n['--only', 'b']\n")
    assert driver.ended() is None
    driver.end()
    assert until(lambda: not alive([left]))
    assert driver.ended() == f"exit code -9, see {tmp_path / 'log'}"


def test_a_driver_does_not_outlive_who_began_it(tmp_path: Path) -> None:
    """However that ends: a run that somebody kills must not leave Spark behind."""
    parent = f"""
import pathlib, random, sys, time
from jobs.driver import Process
process = Process([sys.executable, "-c", {DRIVER_PROGRAM!r}], pathlib.Path({str(tmp_path / "log")!r}))
process.start([])
print(process._begun[0].pid, flush=True)
time.sleep(600)
"""
    root = Path(__file__).parents[2]
    with subprocess.Popen([sys.executable, "-c", parent], cwd=root, stdout=subprocess.PIPE) as begun:
        assert begun.stdout is not None
        child = int(begun.stdout.readline())
        executors = until(lambda: len(found := executor_processes(child)) == 2 and found)
        jvms = children(child)
        begun.kill()
    try:
        assert until(lambda: not alive([child]))
    finally:
        for one in (child, *jvms, *executors.values()):
            with contextlib.suppress(ProcessLookupError):
                os.kill(one, signal.SIGKILL)


def alive(processes: Any) -> list[int]:
    """One that was killed and not waited for by whoever began it is a zombie."""
    return [one for one in processes if (Path("/proc") / str(one)).exists() and not _zombie(one)]


def _zombie(process: int) -> bool:
    try:
        return (Path("/proc") / str(process) / "stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except OSError:
        return True


def outcome(moves: int | None = 5, wrong: tuple[str, ...] = ()) -> Outcome:
    return Outcome(
        job="a", seed=3, rows=80, batches=8, took_s=9.0, differences=wrong, failed_tasks=4, shapes=(), moves=moves
    )


HARM = Harm(executors=2, driver=True)
ACTS = HARM.acts(AMOUNTS.batches, random.Random(0))


def judged(acts: int, found: Outcome | None, failure: str | None = None) -> Outcome:
    """With that many of all acts done."""
    done = tuple(Done(act=act, at_s=4.25) for act in ACTS[:acts])
    one = Endured(job="a", done=done, undone=tuple(ACTS[acts:]), took_s=77.0, failure=failure)
    return harmed.judged(one, found, HARM, AMOUNTS, moved=True)


def test_tasks_may_fail_where_somebody_was_killed_and_rows_may_not() -> None:
    assert not outcome().exact
    right = judged(3, outcome())
    assert right.exact
    assert right.took_s == 77.0
    assert next(sentences(right)) == (
        "a: exact; 80 rows in 8 batches, 77 s, 5 moves, 2 executors killed, 1 driver killed"
    )
    assert not judged(3, outcome(wrong=("q, batch 1: 1 of 2 rows missing",))).exact
    assert not judged(3, outcome(moves=0)).exact


def test_kills_that_were_not_made_and_a_job_that_was_not_done_are_differences() -> None:
    few = judged(1, outcome())
    assert few.differences == ("not done before its end: 1 of 2: executor killed, 1 of 1: driver killed",)
    assert few.kind.harmed  # it takes no place of a run without kills
    lost = judged(3, None, "not done within 5 s")
    assert lost.differences == ("not done within 5 s",)
    assert not lost.exact


def test_options_that_do_not_go_together_are_sentences(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("pyspark")
    out = ["--out", str(tmp_path)]
    for words, sentence in (
        (["all", "--kill-executors", "-1"], "kill-executors: -1 given; it is 0 or more."),
        (["all", "--minutes", "-1"], "minutes: -1 given; it is 0 or more."),
        (["all", "--minutes", "2", "--kill-driver"], "minutes: given with kills by batches; it has kills of its own."),
        (["run", "ysb", "--minutes", "2"], "minutes: given for plain Spark; who drains an executor is the agent."),
        (
            ["fill", str(tmp_path / "page.md"), "--minutes", "2"],
            "minutes: given; `fill` has columns of runs by batches",
        ),
    ):
        assert main([*words, *out]) == 2
        assert sentence in capsys.readouterr().err


def test_the_record_has_what_was_done_and_what_was_not(tmp_path: Path) -> None:
    one = Endured(job="a", done=(Done(act=ACTS[0], at_s=4.254),), undone=tuple(ACTS[2:]), took_s=7.0)
    harmed.write(one, AMOUNTS, HARM, tmp_path / "a" / "harm.json")
    record = json.loads((tmp_path / "a" / "harm.json").read_text())
    assert (record["job"], record["seed"], record["minutes"]) == ("a", 3, 0.0)
    assert [(act["what"], act["done_at_s"]) for act in record["acts"]] == [
        ("executor killed", 4.25),
        ("driver killed", None),
    ]
