"""A job in Java, whose jar Spark fetches from afar, gets the key groups that its StreamJob asks for, exactly."""

from __future__ import annotations

import functools
import http.server
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

sys.path.append(str(Path(__file__).parents[3]))

from e2e.compatibility import answers, java_job, lines
from e2e.compatibility.submitted import JOB as JAR
from e2e.compatibility.submitted import have_jars_made

pytestmark = pytest.mark.spark
JOB = """
apiVersion: streamjob.dev/v1alpha1
kind: StreamJob
metadata: {{name: counts}}
spec:
  application:
    mainFile: {jar}
    mainClass: e2e.compatibility.CountsJob
    args: [{folder}, {folder}/checkpoint]
    checkpoint: {folder}/checkpoint
    sparkConf:
      spark.master: local-cluster[1,1,1024]
      spark.sql.shuffle.partitions: "4"
      spark.ui.enabled: "false"
  executors: {{min: 1, max: 1}}
  balancing:
    statisticsPeriod: 2s
    keyGroups: {{count: 8}}
"""


class Quiet(http.server.SimpleHTTPRequestHandler):
    """Says nothing of requests."""

    def log_message(self, *_words: object) -> None:
        """See BaseHTTPRequestHandler."""


@pytest.fixture
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Where the job's jar can be fetched."""
    folder = tmp_path_factory.mktemp("jars")
    have_jars_made(folder)
    handler = functools.partial(Quiet, directory=str(folder))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/{JAR}"
        server.shutdown()


def test_a_jar_from_afar_gets_eight_key_groups(tmp_path: Path, address: str, run: Callable[[], Any]) -> None:
    said, given = tmp_path / "said", list[lines.Line]()
    (tmp_path / "input").mkdir()
    (tmp_path / "job.yaml").write_text(JOB.format(jar=address, folder=tmp_path))
    job = run()

    def keeps_up() -> None:
        """One file waits beside the one that is being read."""
        number = len(list((tmp_path / "input").iterdir()))
        if number < len(list(said.glob("[0-9]*.json"))) + 2:
            (tmp_path / "draft").write_text(lines.text(lines.lines(number)))
            (tmp_path / "draft").rename(tmp_path / f"input/{number}.csv")
            given.extend(lines.lines(number))

    def spread() -> bool:
        keeps_up()
        return "The state is spread over 8 key groups" in job.said()

    def one_more(before: int) -> bool:
        keeps_up()
        return len(given) > before

    job.until(spread)
    job.until(functools.partial(one_more, len(given)))
    job.until(lambda: java_job.rows(said) == answers.counts(given))
    job.end()
    groups = {one.name for one in (tmp_path / "checkpoint" / "state" / "0").iterdir() if one.name.isdigit()}
    assert groups == {str(group) for group in range(8)}
