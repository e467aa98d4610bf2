"""A job in Java, whose jar Spark fetches from afar, gets the key groups that its StreamJob asks for, exactly."""

from __future__ import annotations

import functools
import http.server
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parents[3]))

from e2e.compatibility import answers, java_job, lines
from e2e.compatibility.submitted import JOB as JAR
from e2e.compatibility.submitted import have_jars_made

pytestmark = pytest.mark.spark


class Counts:
    """Files of lines, one a batch, and what the job says of them."""

    def __init__(self, folder: Path) -> None:
        self._folder, self._said = folder, folder / "said"
        self._given: list[lines.Line] = []
        self.files = 0
        (folder / "input").mkdir()

    def keep_up(self) -> None:
        """One file waits beside the one that is being read."""
        if self.files < len(list(self._said.glob("[0-9]*.json"))) + 2:
            (self._folder / "draft").write_text(lines.text(lines.lines(self.files)))
            (self._folder / "draft").rename(self._folder / f"input/{self.files}.csv")
            self._given += lines.lines(self.files)
            self.files += 1

    def exact(self) -> bool:
        """The newest count of each key is right."""
        return java_job.rows(self._said) == answers.counts(self._given)


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


def test_a_jar_from_afar_gets_eight_key_groups(
    tmp_path: Path, address: str, spread_over_eight: Callable[..., None]
) -> None:
    words = [str(tmp_path), str(tmp_path / "checkpoint")]
    application = {"mainFile": address, "mainClass": "e2e.compatibility.CountsJob", "args": words}
    spread_over_eight(application, Counts(tmp_path))
