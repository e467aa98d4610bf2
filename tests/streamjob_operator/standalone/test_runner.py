import threading
from pathlib import Path

import pytest
from click.testing import CliRunner
from small_reports import executor, status
from worlds import World, even, job

from streamjob_cli.main import main
from streamjob_operator.agent_http.client import address_from
from streamjob_operator.events import told
from streamjob_operator.ports import Ports, Unavailable
from streamjob_operator.standalone.runner import RealTime, Runner
from streamjob_operator.values import CycleRecord
from streamjob_operator.waking.cadence import Seen


class Clock:
    """Time that passes only when somebody sleeps."""

    def __init__(self) -> None:
        self.now_s = 0.0

    def now(self) -> float:
        return self.now_s

    def sleep(self, seconds: float) -> None:
        self.now_s += max(seconds, 0.01)


class Heard:
    def __init__(self) -> None:
        self.at_s: list[float] = []
        self.woken: list[str] = []

    def report(self, record: CycleRecord) -> None:
        self.at_s.append(record.at_s)
        self.woken.append(told(record.woken))


def runner(world: World, heard: Heard, **fields: object) -> Runner:
    clock = Clock()
    ports = Ports(metrics=world, actuator=world, memory=world, reporters=(heard,))
    defaults: dict[str, object] = {"watch": lambda: False, "tell": lambda _: None, "duration_s": 60.0}
    defaults["times"] = RealTime(now=clock.now, monotonic=clock.now, sleep=clock.sleep)
    return Runner(ports=ports, job=job(), **{**defaults, **fields})  # type: ignore[arg-type]


def test_one_cycle_each_statistics_period_until_the_time_is_over() -> None:
    heard = Heard()
    runner(even(2, 2, 20.0), heard).run()
    assert heard.at_s == pytest.approx([0, 10, 20, 30, 40, 50], abs=0.5)


def test_what_a_person_should_know_of_measurements_is_told_once_each_time_that_it_is_so() -> None:
    said, notes = list[str](), ["few", "few", None, "few", "fewer", None]
    runner(even(2, 2, 20.0), Heard(), tell=said.append, note=lambda: notes.pop(0)).run()
    assert (said, notes) == (["few", "few", "fewer"], [])


def test_what_happens_wakes_a_cycle_which_tells_it_and_the_period_begins_anew() -> None:
    heard, clock = Heard(), Clock()
    both = (executor("0"), executor("1"))

    def look() -> Seen:
        return Seen(status=status(*both) if clock.now_s < 14.0 else status(*both, executor("2")))

    times = RealTime(now=clock.now, monotonic=clock.now, sleep=clock.sleep)
    runner(even(2, 2, 20.0), heard, look=look, times=times).run()
    assert heard.at_s == pytest.approx([0, 10, 14, 24, 34, 44, 54], abs=0.5)
    assert heard.woken == ["", "", "Executor 2 is ready.", "", "", "", ""]


def test_an_edit_of_the_job_wakes_a_cycle_which_follows_it() -> None:
    heard, clock = Heard(), Clock()
    longer = job(("statisticsPeriod: 10s", "statisticsPeriod: 20s"))

    def edited() -> bool:
        return clock.now_s >= 14.0

    times = RealTime(now=clock.now, monotonic=clock.now, sleep=clock.sleep)
    look, follow = lambda: Seen(spec=edited()), lambda: longer if edited() else None
    runner(even(2, 2, 20.0), heard, look=look, follow=follow, times=times).run()
    assert heard.at_s == pytest.approx([0, 10, 14, 34, 54], abs=0.5)
    assert heard.woken == ["", "", "The spec or an annotation was edited.", "", ""]


def test_the_end_of_the_job_ends_the_loop() -> None:
    heard, looks = Heard(), iter([False] * 60 + [True] * 10)
    runner(even(2, 2, 20.0), heard, watch=lambda: next(looks)).run()
    assert 1 <= len(heard.at_s) <= 3


def test_stop_ends_the_loop_at_once() -> None:
    heard, stop = Heard(), threading.Event()
    stop.set()
    runner(even(2, 2, 20.0), heard, stop=stop).run()
    assert heard.at_s == []


def test_a_cycle_that_fails_is_told_and_the_next_one_runs() -> None:
    world, heard, sentences = even(2, 2, 20.0), Heard(), []
    world.crash_at = {"load"}
    one = runner(world, heard, tell=sentences.append)
    one.run()
    assert one.failures == 1
    assert sentences[0].startswith("The cycle failed, the job goes on as it is: Crash")
    assert len(heard.at_s) == 5


def test_the_address_is_read_anew_for_each_driver(tmp_path: Path) -> None:
    path = tmp_path / "address"
    read = address_from(path)
    with pytest.raises(Unavailable, match="not up yet"):
        read()
    path.write_text("")
    with pytest.raises(Unavailable, match="empty"):
        read()
    path.write_text("http://127.0.0.1:5/\n")
    assert read() == "http://127.0.0.1:5"
    path.write_text("http://127.0.0.1:6\n")
    assert read() == "http://127.0.0.1:6"


GOOD = """
apiVersion: streamjob.dev/v1alpha1
kind: StreamJob
metadata: {name: good}
spec: {application: {mainFile: job.py}, executors: {min: 1, max: 2}}
"""


def test_validate_says_what_is_wrong(tmp_path: Path) -> None:
    path = tmp_path / "job.yaml"
    path.write_text(GOOD)
    good = CliRunner().invoke(main, ["validate", str(path)])
    assert (good.exit_code, good.output) == (0, "good is a valid StreamJob.\n")
    path.write_text(GOOD.replace("max: 2", "max: 0"))
    bad = CliRunner().invoke(main, ["validate", str(path)])
    assert bad.exit_code == 2
    assert "spec.executors.max: 0 given; at least 1 is allowed." in bad.output


def test_run_refuses_what_it_cannot_start(tmp_path: Path) -> None:
    path = tmp_path / "job.yaml"
    path.write_text(GOOD.replace("application: {mainFile: job.py}", "applicationRef: {name: other}"))
    refused = CliRunner().invoke(main, ["run", str(path)])
    assert refused.exit_code == 2
    assert "--attach" in refused.output
    path.write_text(GOOD)
    refused = CliRunner().invoke(main, ["run", str(path), "--duration", "5 minutes"])
    assert refused.exit_code == 2
    assert "a duration such as" in refused.output
