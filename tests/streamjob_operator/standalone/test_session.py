"""`streamjob run` in real time, everything put together but Spark: attached to an agent, or with a script to start."""

import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from fake_agent import FakeAgent, Server

from streamjob_cli.main import main
from streamjob_operator.memory import FileMemory
from streamjob_operator.standalone.output import Output

JOB = """
apiVersion: streamjob.dev/v1alpha1
kind: StreamJob
metadata: {name: attached}
spec:
  applicationRef: {name: other}
  executors: {min: 2, max: 2}
  balancing: {objective: loadDistance, mode: Auto, planner: search, statisticsPeriod: 1s, maxLoadDistance: 5}
"""


class Working:
    """Batches that end on and on, three quarters of the work on executor 0, until somebody has acted: then Ctrl-C."""

    def __init__(self, agent: FakeAgent) -> None:
        self._agent = agent
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._work)

    def __enter__(self) -> None:
        self._thread.start()

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()

    def _work(self) -> None:
        while not self._agent.assignments:
            if self._stop.wait(0.3):
                return
            self._agent.advance(0.15, 0.15, 0.05, 0.05)
        signal.raise_signal(signal.SIGINT)  # Python hands it to the main thread


def test_an_attached_job_is_watched_balanced_and_reported(tmp_path: Path) -> None:
    (tmp_path / "job.yaml").write_text(JOB)
    agent, out = FakeAgent(), tmp_path / "out"
    with Server(agent) as address, Working(agent):
        arguments = ["run", str(tmp_path / "job.yaml"), "--attach", address, "--out", str(out), "--duration", "2m"]
        done = CliRunner().invoke(main, arguments)
    assert done.exit_code == 0, done.output
    assert "LoadDistance" in done.output
    assert agent.assignments
    first = agent.assignments[0]
    assert (first.generation, first.application_id, first.executors_target) == (1, "app-1", None)
    assert first.owners[0][0] != first.owners[0][1], "the two heavy key groups are still together"
    lines = [json.loads(line) for line in (out / "history.jsonl").read_text().splitlines()]
    assert any(line.get("verdict", {}).get("act") for line in lines)
    assert FileMemory(out / "memory.json", print).load().generation == agent.generation
    assert (out / "report.html").exists()


def test_the_memory_that_it_may_use_bounds_what_it_reads(tmp_path: Path) -> None:
    (tmp_path / "job.yaml").write_text(JOB)
    agent, out = FakeAgent(), tmp_path / "out"
    agent.spoiled = ("streamjob_agent_info", "# " + 2**23 * "x" + "\nstreamjob_agent_info")
    told = "has more than 8 MiB, a share of the 256 MiB of memory that this process may use"
    with Server(agent) as address:
        arguments = ["run", str(tmp_path / "job.yaml"), "--attach", address, "--out", str(out), "--duration", "3s"]
        bounded = CliRunner().invoke(main, [*arguments, "--memory-bytes", str(256 * 2**20)])
        assert bounded.exit_code == 0, bounded.output
        assert told in (out / "history.jsonl").read_text()
        (out / "history.jsonl").unlink()
        CliRunner().invoke(main, arguments)
        assert "has more than" not in (out / "history.jsonl").read_text()


STARTED = """
apiVersion: streamjob.dev/v1alpha1
kind: StreamJob
metadata: {name: started}
spec:
  application: {mainFile: job.py}
  executors: {min: 2, max: 2}
  balancing: {mode: Auto, statisticsPeriod: 5s}
"""


def start(folder: Path, script: str | None, monkeypatch: pytest.MonkeyPatch, *options: str) -> Result:
    """`streamjob run` on a script that needs no Spark."""
    monkeypatch.chdir(folder)
    (folder / "job.yaml").write_text(STARTED)
    if script is not None:
        (folder / "job.py").write_text(script)
    return CliRunner().invoke(main, ["run", "job.yaml", *options])


def test_a_job_that_ends_by_itself_ends_the_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    done = start(tmp_path, "print('all done')", monkeypatch)
    assert done.exit_code == 0, done.output
    assert "The job has ended: its driver ended with 0." in done.output
    assert "Stopping the job." not in done.output
    assert (tmp_path / "out/started/driver.log").read_text() == "all done\n"


def test_a_job_that_fails_is_told_with_its_last_words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    done = start(tmp_path, "raise ValueError('my own mistake')", monkeypatch)
    assert done.exit_code == 1
    assert "The job has ended: its driver ended with 1.\n" in done.output
    assert "  | ValueError: my own mistake\n" in done.output


def test_a_missing_script_is_told_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    done = start(tmp_path, None, monkeypatch)
    assert done.exit_code == 2
    assert done.output == f"spec.application.mainFile: job.py given; there is no such file in {tmp_path}.\n"


def test_a_job_that_is_stopped_by_us_is_a_success(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    done = start(tmp_path, "import time; time.sleep(60)", monkeypatch, "--duration", "1s")
    assert done.exit_code == 0, done.output
    assert "Stopping the job." in done.output
    assert not (tmp_path / "out/started/driver.pid").exists()


LIVES = """
import os, time
from pathlib import Path
Path("begun").write_text(str(os.getpid()))
while not Path("enough").exists():
    time.sleep(0.05)
"""


@contextlib.contextmanager
def lives(folder: Path, hang_up: signal.Handlers) -> Iterator[subprocess.Popen[bytes]]:
    """`streamjob run` in a process of its own whose driver lives until the file `enough` is there."""
    (folder / "job.yaml").write_text(STARTED)
    (folder / "job.py").write_text(LIVES)
    words = f"import signal; signal.signal(signal.SIGHUP, signal.{hang_up.name}); "
    words += "from streamjob_cli.main import main; main()"
    with subprocess.Popen([sys.executable, "-c", words, "run", "job.yaml"], cwd=folder) as run:
        try:
            while run.poll() is None and not (folder / "begun").exists():
                time.sleep(0.05)
            run.send_signal(signal.SIGHUP)
            yield run
        finally:
            (folder / "enough").touch()


def test_a_terminal_that_is_closed_ends_the_job_in_order(tmp_path: Path) -> None:
    """The driver went on without a controller, and there was no report."""
    with lives(tmp_path, signal.SIG_DFL) as run:
        assert run.wait() == 0
        driver = Path("/proc") / (tmp_path / "begun").read_text()
        assert not driver.exists()
        assert (tmp_path / "out/started/report.html").exists()


def test_under_nohup_a_terminal_may_be_closed(tmp_path: Path) -> None:
    with lives(tmp_path, signal.SIG_IGN) as run:
        history = tmp_path / "out/started/history.jsonl"
        while run.poll() is None and not (history.exists() and '"cycle"' in history.read_text()):
            time.sleep(0.05)
        assert run.poll() is None
    assert run.returncode == 0


def _hung_up() -> int:
    reader, writer = os.pipe()
    os.close(reader)
    return writer


def _full() -> int:
    return os.open("/dev/full", os.O_WRONLY)


@pytest.mark.parametrize("output", [_hung_up, _full])
def test_a_job_goes_on_when_nobody_can_hear_of_it(output: Callable[[], int], tmp_path: Path) -> None:
    (tmp_path / "job.yaml").write_text(STARTED)
    (tmp_path / "job.py").write_text("import time; time.sleep(1); open('done', 'w').close()")
    stdout = output()
    words = [sys.executable, "-c", "from streamjob_cli.main import main; main()", "run", "job.yaml"]
    done = subprocess.run(words, cwd=tmp_path, stdout=stdout, stderr=subprocess.PIPE, check=False)
    os.close(stdout)
    assert (tmp_path / "done").exists(), done.stderr
    assert (tmp_path / "out/started/report.html").exists(), done.stderr
    assert (done.returncode, done.stderr) == (0, b"")


def test_what_the_output_has_no_letters_for_is_written_in_others(tmp_path: Path) -> None:
    with (tmp_path / "output").open("w", encoding="ascii") as file:
        Output(file).write("2 \u2192 3")
    assert (tmp_path / "output").read_text() == "2 \\u2192 3"


@pytest.mark.parametrize(
    "address",
    ["", "127.0.0.1", "127.0.0.1:port", "https://127.0.0.1:1", "[::1", "http://:80", "http://a:1/metrics", "a:1?b=c"],
)
def test_an_address_that_is_none_is_told_and_nothing_is_started(
    address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    done = start(tmp_path, "open('started', 'w').close()", monkeypatch, "--attach", address, "--duration", "1s")
    assert done.exit_code == 2
    assert f"'{address}' given; HOST:PORT or http://HOST:PORT is needed" in done.output
    assert not (tmp_path / "started").exists()


def test_a_folder_of_results_that_cannot_be_is_told_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "taken").touch()
    done = start(tmp_path, "open('started', 'w').close()", monkeypatch, "--out", "taken/results")
    assert done.exit_code == 2
    assert done.output == "--out: taken/results given; it cannot be made: Not a directory.\n"
    assert not (tmp_path / "started").exists()


def test_a_history_that_cannot_be_written_is_told_before_anything_is_started(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It ended in a traceback, with the driver started and stopped again."""
    (tmp_path / "results/history.jsonl").mkdir(parents=True)
    done = start(tmp_path, "open('started', 'w').close()", monkeypatch, "--out", "results")
    sentence = "--out: results given; results/history.jsonl cannot be written: Is a directory.\n"
    assert (done.exit_code, done.output) == (2, sentence)
    assert not (tmp_path / "started").exists()


FULL = """
import resource
resource.setrlimit(resource.RLIMIT_FSIZE, (1, 1))
from streamjob_cli.main import main
main()
"""
"""A file takes one byte, as on a disk that is full."""


def test_a_history_for_which_there_is_no_room_is_told_before_anything_is_started(tmp_path: Path) -> None:
    """The driver was started and stopped again, and what was told spoke of the command's output."""
    (tmp_path / "job.yaml").write_text(STARTED)
    (tmp_path / "job.py").write_text("open('started', 'w').close()")
    words = [sys.executable, "-B", "-c", FULL, "run", "job.yaml"]
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=False)
    sentence = "--out: out/started given; out/started/history.jsonl cannot be written: File too large.\n"
    assert (done.returncode, done.stdout, done.stderr) == (2, "", sentence)
    assert not (tmp_path / "started").exists()
    assert (tmp_path / "out/started/history.jsonl").read_bytes() == b""


HOLDS = """
import os, sys
from pathlib import Path
from streamjob_operator.standalone.alone import alone
with alone(Path(sys.argv[1]), os.getpid()):
    if os.fork() == 0:  # a planner that outlives it for a while
        os.close(1)
        os.read(0, 1)
        os._exit(0)
    print("here", flush=True)
    os.read(0, 1)
"""


@pytest.mark.parametrize("options", [(), ("--attach", "http://127.0.0.1:9")], ids=["its own driver", "attached"])
def test_a_second_controller_of_one_folder_is_refused_until_the_first_is_gone_however_it_went(
    options: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """While the first one's driver waited for its next start, the second one started the job a second time."""
    out = tmp_path / "out/started"
    out.mkdir(parents=True)
    words = [sys.executable, "-c", HOLDS, str(out)]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as first:
        assert first.stdout is not None
        assert first.stdout.readline() == "here\n"
        done = start(tmp_path, "open('started', 'w').close()", monkeypatch, "--duration", "1s", *options)
        sentence = (
            f"another `streamjob run` is at work there, process {first.pid}. End it first, or give another folder."
        )
        assert (done.exit_code, done.output) == (2, f"--out: out/started given; {sentence}\n")
        assert not (tmp_path / "started").exists()
        first.kill()
        first.wait()
        assert start(tmp_path, "", monkeypatch, "--duration", "1s", *options).exit_code == 0


def test_a_driver_that_cannot_be_started_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "out/started/driver.log").mkdir(parents=True)
    done = start(tmp_path, "", monkeypatch)
    assert done.exit_code == 2
    assert "The driver cannot be started: [Errno 21] Is a directory: 'out/started/driver.log'.\n" in done.output
