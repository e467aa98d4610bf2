"""`streamjob record` of what no trace can be: a sentence, whatever answers in place of a Prometheus."""

from __future__ import annotations

import json
import threading
import urllib.parse
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from prometheus_answers import sent
from worlds import even, job, warm

from streamjob_cli.main import main
from streamjob_operator.history import HistoryFile

NOW_S = 3_000_000.0


class Prometheus:
    """Answers every question with one series whose value is `value`, of a query and an operator of these names."""

    def __init__(self) -> None:
        self.value, self.operator, self.time = "1.0", "0", [NOW_S, str(NOW_S)]
        self.query, self.url = "q", ""

    def answer(self, asked: dict[str, str]) -> dict[str, Any]:
        if asked["query"] == "vector(time())":
            return {"resultType": "vector", "result": [{"metric": {}, "value": self.time}] if self.time else []}
        if "start" in asked:
            step_s = float(asked["step"])
            first_s, last_s = float(asked["start"]), float(asked["end"])
            times = [first_s + step_s * at for at in range(round((last_s - first_s) / step_s) + 1)]
            values = [[at_s, self.value] for at_s in times]
            return {"resultType": "matrix", "result": [{"metric": {}, "values": values}]}
        labels = {"query": self.query, "stage": "operator-0", "operator": self.operator, "partition": "0"}
        return {"resultType": "vector", "result": [{"metric": labels, "value": [NOW_S, self.value]}]}


@pytest.fixture
def prometheus() -> Iterator[Prometheus]:
    told = Prometheus()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked = dict(urllib.parse.parse_qsl(urllib.parse.urlsplit(self.path).query))
            body = json.dumps({"status": "success", "data": told.answer(asked)}).encode()
            sent(self, body)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    told.url = f"http://127.0.0.1:{server.server_port}"
    yield told
    server.shutdown()
    server.server_close()


def record(told: Prometheus, path: Path, *options: str) -> tuple[int, str]:
    result = CliRunner().invoke(main, ["record", str(path), "--prometheus", told.url, *options])
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result.exit_code, result.output


def test_what_is_there_is_recorded(prometheus: Prometheus, tmp_path: Path) -> None:
    code, said = record(prometheus, tmp_path / "t.json", "--since", "1h")
    assert (code, "60 steps of 1m of q" in said) == (0, True), said


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (("--since", "30d", "--step", "1h"), "a week is the most"),
        (("--since", "1m", "--step", "500ms"), "0.5 given; at least 1 is allowed."),
        (("--since", "1h", "--name", "n" * 300), "text of at most 253 characters is needed"),
    ],
)
def test_what_was_asked_for_and_no_trace_can_be_is_told(
    prometheus: Prometheus, tmp_path: Path, options: tuple[str, ...], sentence: str
) -> None:
    code, said = record(prometheus, tmp_path / "t.json", *options)
    assert (code, sentence in said) == (2, True), said
    assert not (tmp_path / "t.json").exists()


@pytest.mark.parametrize(
    ("changed", "sentence"),
    [
        ({"value": "NaN"}, "No batch with rows ended within that time."),
        ({"operator": "first"}, "Prometheus's answer is not what it gives of the agent (ValueError)."),
        ({"time": []}, "Prometheus's answer is not what it gives of the agent (IndexError)."),
        ({"value": "1e300"}, "This cannot be a trace"),
    ],
)
def test_an_answer_of_another_kind_is_told(
    prometheus: Prometheus, tmp_path: Path, changed: dict[str, Any], sentence: str
) -> None:
    for name, value in changed.items():
        setattr(prometheus, name, value)
    code, said = record(prometheus, tmp_path / "t.json", "--since", "1h")
    assert (code, sentence in said) == (2, True), said


def test_a_querys_name_steers_no_terminal(prometheus: Prometheus, tmp_path: Path) -> None:
    """Any job that is scraped may call its query so."""
    prometheus.query = "\x1b]0;mine\x07q"
    code, said = record(prometheus, tmp_path / "t.json", "--since", "1h")
    assert (code, "of \ufffd]0;mine\ufffdq." in said) == (0, True), said


@pytest.mark.parametrize("option", ["--query", "--select", "--token-file", "--ca-file", "--since"])
def test_what_only_a_prometheus_can_be_asked_is_not_passed_over_of_a_history(tmp_path: Path, option: str) -> None:
    words = ["record", str(tmp_path / "t.json"), "--from", str(tmp_path / "h.jsonl"), option, "1h"]
    done = CliRunner().invoke(main, words)
    assert (done.exit_code, f"{option} goes with --prometheus" in done.stderr) == (2, True), done.output


def test_a_history_is_not_written_over(tmp_path: Path) -> None:
    history = tmp_path / "history.jsonl"
    history.write_text("{}")
    done = CliRunner().invoke(main, ["record", str(history), "--from", str(history)])
    assert (done.exit_code, "that is what is read" in done.stderr) == (2, True), done.output
    assert history.read_text() == "{}"


@pytest.mark.parametrize("token", ["", "two words", "first\nsecond"])
def test_a_token_that_no_header_holds_is_told_and_not_shown(prometheus: Prometheus, tmp_path: Path, token: str) -> None:
    (tmp_path / "token").write_text(token)
    code, said = record(prometheus, tmp_path / "t.json", "--token-file", str(tmp_path / "token"))
    assert (code, "one word is needed" in said, bool(token) and token[:3] in said.replace("tok", "")) == (
        2,
        True,
        False,
    )


def test_a_step_that_makes_too_many_is_refused_before_they_are_made(tmp_path: Path) -> None:
    of, world = job(), even(2, 4, 30.0)
    history = HistoryFile(tmp_path / "history.jsonl", of)
    warm(world, of)
    for _ in range(3):
        world.turn(of, [history])
    done = CliRunner().invoke(
        main, ["record", str(tmp_path / "t.json"), "--from", str(history.path), "--step", "0.01ms"]
    )
    assert (done.exit_code, "steps of 1e-05 s asked for; 100,000 at most are possible." in done.stderr) == (2, True)


@pytest.mark.parametrize("url", ["", "localhost:9090", "ftp://localhost", "http://", "http://localhost:9090/?a=b"])
def test_what_is_no_address_is_told_before_anybody_is_asked(url: str, prometheus: Prometheus, tmp_path: Path) -> None:
    """'localhost:9090' "answered in a way that cannot be read: No host specified"."""
    prometheus.url = url
    code, said = record(prometheus, tmp_path / "trace.json")
    assert code == 2
    assert f"'{url}' given; an address such as http://prometheus.monitoring:9090 is needed" in " ".join(said.split())
