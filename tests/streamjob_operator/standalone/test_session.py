"""`streamjob run --attach` against an agent on loopback, in real time: everything put together but Spark."""

import json
import threading
from pathlib import Path

from click.testing import CliRunner
from fake_agent import FakeAgent, Server

from streamjob_operator.cli import main
from streamjob_operator.memory import FileMemory

JOB = """
apiVersion: streamjob.dev/v1alpha1
kind: StreamJob
metadata: {name: attached}
spec:
  applicationRef: {name: other}
  executors: {min: 2, max: 2}
  balancing: {mode: Auto, planner: search, statisticsPeriod: 1s, maxLoadDistance: 5}
"""


class Working:
    """Batches that end on and on, three quarters of the work on executor 0."""

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
        while not self._stop.wait(0.3):
            self._agent.advance(0.15, 0.15, 0.05, 0.05)


def test_an_attached_job_is_watched_balanced_and_reported(tmp_path: Path) -> None:
    (tmp_path / "job.yaml").write_text(JOB)
    agent, out = FakeAgent(), tmp_path / "out"
    with Server(agent) as address, Working(agent):
        arguments = ["run", str(tmp_path / "job.yaml"), "--attach", address, "--out", str(out), "--duration", "12s"]
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
