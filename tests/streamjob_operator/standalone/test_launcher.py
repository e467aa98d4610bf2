import errno
import json
import os
import shlex
import signal
import sys
import time
from pathlib import Path

import pytest

from streamjob_operator.spec import Application, RestartPolicy
from streamjob_operator.spec.restart import Restart
from streamjob_operator.standalone import launcher
from streamjob_operator.standalone.child import Child
from streamjob_operator.standalone.launcher import Driver, DriverError
from streamjob_operator.standalone.submission import command, environment, spark_settings
from streamjob_operator.standalone.supervisor import Supervisor


def application(**fields: object) -> Application:
    return Application.model_validate_json(json.dumps({"mainFile": "job.py", **fields}))


def test_the_job_is_started_through_the_agent_unchanged() -> None:
    started = command(application(mainFile="local:///opt/job.py", args=["--topic", "a b"]))
    assert started == [sys.executable, "-m", "streamjob_agent", "run", "/opt/job.py", "--topic", "a b"]


def test_dependencies_are_told_to_spark_and_python_files_to_the_runner() -> None:
    wanted = application(mainFile="https://code.example/job.py", deps={"pyFiles": ["a.py"], "jars": ["b.jar", "c.jar"]})
    assert command(wanted)[3:] == ["run", "--py-files", "a.py", "https://code.example/job.py"]
    assert spark_settings(wanted) == {"spark.jars": "b.jar,c.jar"}


def test_the_jobs_own_settings_win() -> None:
    own = {"spark.locality.wait": "1s", "spark.task.cpus": "2"}
    settings = spark_settings(application(sparkConf=own, executor={"cores": 2, "memory": "2g"}))
    assert settings["spark.locality.wait"] == "1s"
    assert settings["spark.executor.memory"] == "2g"
    assert settings["spark.executor.cores"] == "2"
    assert "spark.driver.memory" not in settings


def test_settings_reach_spark_whatever_they_hold(tmp_path: Path) -> None:
    made = environment(application(sparkConf={"spark.a": "b c'd"}), tmp_path / "address", tmp_path, {"HOME": "/h"})
    words = shlex.split(made["PYSPARK_SUBMIT_ARGS"])
    assert "spark.a=b c'd" in words
    assert words[-1] == "pyspark-shell"
    assert made["HOME"] == "/h"
    assert made["STREAMJOB_AGENT_ADDRESS_FILE"] == str(tmp_path / "address")


@pytest.mark.parametrize(
    ("master", "inherited", "expected"),
    [
        ("local-cluster[2,1,512]", {}, "127.0.0.1"),
        ("local-cluster[2,1,512]", {"SPARK_LOCAL_IP": "10.0.0.1"}, "10.0.0.1"),
        ("spark://host:7077", {}, None),
    ],
)
def test_a_local_master_listens_on_loopback(
    master: str, inherited: dict[str, str], expected: str | None, tmp_path: Path
) -> None:
    made = environment(application(sparkConf={"spark.master": master}), tmp_path / "a", tmp_path, inherited)
    assert made.get("SPARK_LOCAL_IP") == expected


def driver(tmp_path: Path, script: str, monkeypatch: pytest.MonkeyPatch, *words: str) -> Driver:
    monkeypatch.setattr(launcher, "command", lambda _: [sys.executable, "-c", script, *words])
    return Driver(application(), tmp_path)


def until(condition: object, seconds: float = 90.0) -> None:
    deadline_s = time.monotonic() + seconds
    while not condition():  # type: ignore[operator]
        assert time.monotonic() < deadline_s, "it did not come"
        time.sleep(0.02)


def test_output_goes_to_the_log_and_an_old_address_is_forgotten(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "agent.address").write_text("http://127.0.0.1:1\n")
    one = driver(tmp_path, "print('hello from the job'); raise SystemExit(3)", monkeypatch)
    one.start()
    until(lambda: one.exit_code() is not None)
    one.stop()
    assert one.exit_code() == 3
    assert "hello from the job" in (tmp_path / "driver.log").read_text()
    assert not (tmp_path / "agent.address").exists()
    assert not (tmp_path / "driver.pid").exists()
    assert one.last_words() == ("hello from the job",)


def test_stop_ends_the_driver_and_its_children_even_stubborn_ones(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stubborn = (
        "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print('up', flush=True); time.sleep(60)"
    )
    script = f"import subprocess, sys; subprocess.Popen([sys.executable, '-c', {stubborn!r}]).wait()"
    one = driver(tmp_path, script, monkeypatch)
    one.start()
    until(lambda: "up" in (tmp_path / "driver.log").read_text())
    group = one._process.pid if one._process else 0
    one.stop(grace_s=0.5)
    assert one.exit_code() == -signal.SIGTERM
    until(lambda: not _lives(group))


def _lives(group: int) -> bool:
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    return True


def test_a_driver_that_was_stopped_is_not_signalled_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    one = driver(tmp_path, "pass", monkeypatch)
    one.start()
    one.stop()
    signalled: list[int] = []
    monkeypatch.setattr(os, "killpg", lambda group, _: signalled.append(group))  # its number may be a stranger's by now
    one.stop()
    assert signalled == []
    assert one.exit_code() is not None


def test_a_process_whose_number_cannot_be_kept_does_not_run_on(tmp_path: Path) -> None:
    """On a full disk the change of key groups went on beside the driver that was started in its place."""
    (tmp_path / "one.pid").mkdir()
    one = Child(tmp_path, "one")
    with pytest.raises(IsADirectoryError):
        one.launch([sys.executable, "-c", "import time; time.sleep(60)"], os.environ)
    assert one.exit_code() in (-signal.SIGTERM, -signal.SIGKILL)


class FakeDriver:
    def __init__(self, *codes: int | None) -> None:
        self.codes = list(codes)
        self.starts = 0
        self.stops = 0
        self.no_start: list[bool] = []  # whether the next starts fail

    def start(self) -> None:
        self.starts += 1
        if self.no_start and self.no_start.pop(0):
            raise BlockingIOError(errno.EAGAIN, "Resource temporarily unavailable")

    def exit_code(self) -> int | None:
        return self.codes.pop(0) if self.codes else None

    def stop(self) -> None:
        self.stops += 1

    def last_words(self) -> tuple[str, ...]:
        return ("Traceback", "ValueError: mine")


def restart(policy: RestartPolicy) -> Restart:
    return Restart.model_validate_json(f'{{"policy": "{policy}", "backoff": {{"initial": "10s", "max": "30s"}}}}')


@pytest.mark.parametrize(
    ("policy", "code", "ends"),
    [
        (RestartPolicy.NEVER, 1, True),
        (RestartPolicy.ON_FAILURE, 0, True),
        (RestartPolicy.ON_FAILURE, 1, False),
        (RestartPolicy.ALWAYS, 0, False),
    ],
)
def test_restart_policies(policy: RestartPolicy, code: int, ends: bool) -> None:
    fake = FakeDriver(code)
    watched = Supervisor(fake, restart(policy), lambda _: None)
    for at_s in range(0, 40):
        watched.tick(float(at_s))
    assert (watched.ended == code) is ends
    assert fake.starts == (1 if ends else 2)
    assert fake.stops == 1


def test_restarts_in_a_row_have_an_end() -> None:
    fake = FakeDriver(1, 1, 1, 1)
    limited = restart(RestartPolicy.ALWAYS).model_copy(update={"max_restarts": 2})
    watched = Supervisor(fake, limited, lambda _: None)
    for at_s in range(0, 200):
        watched.tick(float(at_s))
    assert (watched.ended, fake.starts) == (1, 3)


def test_the_wait_doubles_up_to_its_limit_and_starts_anew_after_a_long_run() -> None:
    fake, told = FakeDriver(1, 1, 1, *([None] * 100), 1), []
    watched = Supervisor(fake, restart(RestartPolicy.ALWAYS), told.append)
    for at_s in range(0, 250):
        watched.tick(float(at_s))
    waits = [sentence.splitlines()[0].rsplit(" ", 1)[1] for sentence in told]
    assert waits == ["10s.", "20s.", "30s.", "10s."]


def test_the_wait_keeps_its_limit_however_often_a_driver_has_failed() -> None:
    fake = FakeDriver(*[1] * 2000)
    watched = Supervisor(fake, restart(RestartPolicy.ALWAYS), lambda _: None)
    for turn in range(4000):
        watched.tick(30.0 * turn)
    assert fake.starts == 2000
    assert watched.ended is None


def test_a_driver_that_cannot_be_started_again_is_tried_once_more_later() -> None:
    fake, told = FakeDriver(1), list[str]()
    fake.no_start = [False, True]
    watched = Supervisor(fake, restart(RestartPolicy.ALWAYS), told.append)
    for at_s in range(40):
        watched.tick(float(at_s))
    assert (fake.starts, watched.ended) == (3, None)
    again = "The driver could not be started: Resource temporarily unavailable; it is started again in 20s."
    assert told[1:] == [again]


def test_a_driver_that_can_never_be_started_again_has_its_restarts_counted() -> None:
    fake, told = FakeDriver(1), list[str]()
    fake.no_start = [False, True, True]
    limited = restart(RestartPolicy.ALWAYS).model_copy(update={"max_restarts": 2})
    watched = Supervisor(fake, limited, told.append)
    for at_s in range(100):
        watched.tick(float(at_s))
    assert (fake.starts, watched.ended) == (3, 1)
    assert told[-1] == "The job has ended: its driver could not be started: Resource temporarily unavailable."


@pytest.mark.parametrize(
    ("code", "sentences"),
    [
        (0, ["The job has ended: its driver ended with 0."]),
        (1, ["The job has ended: its driver ended with 1.", "  | Traceback", "  | ValueError: mine"]),
        (-9, ["The job has ended: its driver was ended by signal 9.", "  | Traceback", "  | ValueError: mine"]),
    ],
)
def test_the_end_of_a_job_is_told_with_its_last_words_where_it_failed(code: int, sentences: list[str]) -> None:
    told: list[str] = []
    watched = Supervisor(FakeDriver(code), restart(RestartPolicy.NEVER), told.append)
    for at_s in range(3):
        watched.tick(float(at_s))
    assert "\n".join(told).splitlines() == sentences


def test_a_script_that_is_not_there_is_told_before_anything_starts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(DriverError, match=f"mainFile: job.py given; there is no such file in {tmp_path}"):
        Driver(application(), tmp_path).check()
    (tmp_path / "job.py").touch()
    Driver(application(), tmp_path).check()


def test_a_script_that_cannot_be_looked_for_is_told_with_why(tmp_path: Path) -> None:
    """As in a folder that is closed to the person."""
    name = f"{'x' * 300}.py"
    with pytest.raises(DriverError, match=f"mainFile: {name} given; it cannot be looked for: File name too long"):
        Driver(application(mainFile=name), tmp_path).check()


def test_a_driver_that_outlived_its_controller_is_not_started_twice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "job.py").touch()
    one = driver(tmp_path, "import time; print('up', flush=True); time.sleep(60)", monkeypatch, "streamjob_agent")
    one.start()
    until(lambda: "up" in (tmp_path / "driver.log").read_text())
    (tmp_path / "agent.address").write_text("http://127.0.0.1:7\n")
    pid = one._process.pid if one._process else 0
    with pytest.raises(DriverError, match=rf"process {pid}.* --attach http://127.0.0.1:7 .*: kill {pid}$"):
        Driver(application(), tmp_path).check()
    one.stop(grace_s=0.5)
    Driver(application(), tmp_path).check()
    (tmp_path / "driver.pid").write_text(str(os.getpid()))  # another program has the number by now
    Driver(application(), tmp_path).check()
