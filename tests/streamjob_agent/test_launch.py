"""`run --class`: spark-submit with the plugin, and what SIGTERM means to it; a script stands for spark-submit."""

from __future__ import annotations

import os
import pathlib
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping

import pytest

from streamjob_agent import runner
from streamjob_agent.plugin import PLUGIN, launch, with_ours

WAIT_S = 60
SPARK = pathlib.Path("/opt/spark")
# The process above, as `run --class` makes it, but that no Spark is there to make the plugin.
ABOVE = """
import os, sys
from streamjob_agent.plugin import launch, with_ours
launch._make = lambda *_: with_ours("")
sys.exit(launch.run_class("com.example.Clicks", ["local://" + sys.argv[1], "a b"], os.environ))
"""
# The driver: tells its words, starts an agent, ends as it is told to.
DRIVER = """#!{python}
import os, pathlib, signal, subprocess, sys, time
folder = pathlib.Path({folder!r})
signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
if "agent" in os.environ:
    agent = "import os, pathlib, signal, sys, time; signal.signal(signal.SIGTERM, lambda *_: "
    agent += "(pathlib.Path(sys.argv[3], 'asked').touch(), os._exit(0))); pathlib.Path(sys.argv[3], 'agent').touch()"
    subprocess.Popen([sys.executable, "-c", agent + "; time.sleep(60)", "streamjob_agent", "plugin", folder])
(folder / "draft").write_text("\\n".join([*sys.argv[1:], os.environ["SPARK_DIST_CLASSPATH"]]))
(folder / "draft").rename(folder / "words")
while not (folder / "end").exists():
    time.sleep(0.02)
os.kill(os.getpid(), signal.SIGKILL) if "killed" in os.environ else sys.exit(7)
"""
Start = Callable[..., subprocess.Popen[str]]


@pytest.fixture
def start(tmp_path: pathlib.Path) -> Iterator[Start]:
    home = tmp_path / "spark/bin"
    home.mkdir(parents=True)
    (home / "spark-submit").write_text(DRIVER.format(python=sys.executable, folder=str(tmp_path)))
    (home / "spark-submit").chmod(0o755)
    (tmp_path / "job.jar").touch()
    started: list[subprocess.Popen[str]] = []

    def above(**variables: str) -> subprocess.Popen[str]:
        there = {"SPARK_HOME": str(home.parent), "PYSPARK_SUBMIT_ARGS": "--conf 'spark.app.name=a b' pyspark-shell"}
        words = [sys.executable, "-c", ABOVE, str(tmp_path / "job.jar")]
        process = subprocess.Popen(words, env={**os.environ, **there, **variables}, text=True, start_new_session=True)
        started.append(process)
        wait_for(tmp_path / "words")
        if "agent" in variables:
            wait_for(tmp_path / "agent")
        return process

    yield above
    for one in started:
        one.kill()
        one.wait()


def wait_for(path: pathlib.Path) -> None:
    until_s = time.monotonic() + WAIT_S
    while not path.exists():
        assert time.monotonic() < until_s, f"{path.name} did not come"
        time.sleep(0.02)


def driver_of(above: subprocess.Popen[str]) -> int:
    (pid,) = pathlib.Path(f"/proc/{above.pid}/task/{above.pid}/children").read_text().split()
    return int(pid)


def test_the_driver_gets_the_jobs_settings_and_the_plugin_and_its_exit_code_is_told(
    start: Start, tmp_path: pathlib.Path
) -> None:
    above = start(SPARK_DIST_CLASSPATH="/theirs/*")
    told = (tmp_path / "words").read_text().splitlines()
    job = str(tmp_path / "job.jar")
    assert told[:-1] == [
        *("--conf", "spark.app.name=a b", "--conf", f"spark.plugins={PLUGIN}", "--class", "com.example.Clicks"),
        *(job, "a b"),
    ]
    theirs, ours = told[-1].split(":")
    assert (theirs, pathlib.Path(ours).name) == ("/theirs/*", "streamjob.jar")
    assert pathlib.Path(ours).parent.is_dir()
    (tmp_path / "end").touch()
    assert above.wait(WAIT_S) == 7
    assert not pathlib.Path(ours).parent.exists()


def test_a_driver_that_a_signal_ended_is_told_as_a_shell_tells_it(start: Start, tmp_path: pathlib.Path) -> None:
    above = start(killed="yes")
    (tmp_path / "end").touch()
    assert above.wait(WAIT_S) == 137


def test_with_a_grace_the_agent_is_asked_and_the_driver_left_to_it(start: Start, tmp_path: pathlib.Path) -> None:
    above = start(STREAMJOB_AGENT_STOP_GRACE_S="600", agent="yes")
    above.terminate()
    wait_for(tmp_path / "asked")
    assert above.poll() is None
    (tmp_path / "end").touch()  # its queries have ended
    assert above.wait(WAIT_S) == 7


@pytest.mark.parametrize(
    "variables",
    [{"agent": "yes"}, {"STREAMJOB_AGENT_STOP_GRACE_S": "600"}],
    ids=["no grace", "no agent"],
)
def test_without_a_grace_or_an_agent_the_driver_is_asked(start: Start, variables: Mapping[str, str]) -> None:
    above = start(**variables)
    above.terminate()
    assert above.wait(WAIT_S) == 143


def test_who_asks_twice_means_the_driver(start: Start, tmp_path: pathlib.Path) -> None:
    above = start(STREAMJOB_AGENT_STOP_GRACE_S="600", agent="yes")
    above.terminate()
    wait_for(tmp_path / "asked")
    above.terminate()
    assert above.wait(WAIT_S) == 143


def test_a_grace_that_is_over_ends_the_driver(start: Start) -> None:
    above = start(STREAMJOB_AGENT_STOP_GRACE_S="1", agent="yes")
    above.terminate()
    assert above.wait(WAIT_S) == 143


def test_no_driver_outlives_the_process_above(start: Start) -> None:
    above = start()
    driver = driver_of(above)
    above.kill()
    above.wait()
    until_s = time.monotonic() + WAIT_S
    while pathlib.Path(f"/proc/{driver}/exe").exists():
        assert time.monotonic() < until_s, "two drivers would run on one checkpoint"
        time.sleep(0.02)


@pytest.mark.parametrize(
    ("theirs", "all_of_them"),
    [("", PLUGIN), ("a.B", f"a.B,{PLUGIN}"), (f" {PLUGIN} , a.B,", f"a.B,{PLUGIN}")],
)
def test_plugins_of_the_job_stay(theirs: str, all_of_them: str) -> None:
    assert with_ours(theirs) == all_of_them


def test_the_agents_python_is_this_one_unless_the_job_names_another() -> None:
    plugin = pathlib.Path("/tmp/streamjob.jar")
    assert launch.variables(plugin, SPARK, {})["PYSPARK_DRIVER_PYTHON"] == sys.executable
    assert launch.variables(plugin, SPARK, {"PYSPARK_PYTHON": "/p"})["PYSPARK_DRIVER_PYTHON"] == "/p"
    both = {"PYSPARK_PYTHON": "/p", "PYSPARK_DRIVER_PYTHON": "/d"}
    assert launch.variables(plugin, SPARK, both)["PYSPARK_DRIVER_PYTHON"] == "/d"


def test_without_a_jar_or_spark_a_sentence_says_what_is_missing(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        runner.main(["run", "--class", "com.example.Clicks", str(tmp_path / "no.jar")])
    assert ended.value.code == 2
    assert f"can't open '{tmp_path}/no.jar': no such file" in capsys.readouterr().err
    monkeypatch.setattr(launch.importlib.util, "find_spec", lambda _: None)
    with pytest.raises(launch.CannotLaunch, match="SPARK_HOME is not set, and this Python has no pyspark"):
        launch.spark_home({})
    assert launch.spark_home({"SPARK_HOME": "/opt/spark"}) == SPARK


@pytest.mark.parametrize("words", [["--class"], ["--class", "com.example.Clicks"]])
def test_a_class_without_its_jar_gets_the_usage(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        runner.main(["run", *words])
    assert "run --class CLASS FILE.jar" in capsys.readouterr().err
    assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL
