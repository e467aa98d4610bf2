"""`streamjob advise` against an agent on paper: tables, sentences, JSON, and what is said when there is nothing."""

from __future__ import annotations

import dataclasses
import http.server
import json
import threading
from collections.abc import Callable, Iterator

import pytest
from click.testing import CliRunner, Result
from fake_agent import FakeAgent

from streamjob_agent.plan_form import KeyColumn, PlanLink, PlanOperator, PlanShuffle, QueryPlan, plans_to_json
from streamjob_cli.main import main

USER, PAGE, OTHER = (KeyColumn(number=n, name=name) for n, name in enumerate(("user", "page", "user")))


def chained(name: str | None = "views", lower: tuple[KeyColumn, ...] = (USER, PAGE)) -> QueryPlan:
    told = {"feeds": None, "size_bytes": 2048.0, "records": 20.0, "write_s": 0.25, "wait_s": 0.5}
    return QueryPlan(
        query_id="0a1b",
        name=name,
        batches=3,
        operators=(
            PlanOperator(operator=0, kind="StateStoreSaveExec", partitions=4, key=(USER,)),
            PlanOperator(operator=1, kind="StreamingDeduplicateExec", partitions=4, key=lower),
        ),
        shuffles=(
            PlanShuffle(shuffle=0, operator=0, key=(USER,), **told),
            PlanShuffle(shuffle=1, operator=1, key=lower, **told),
        ),
        links=(PlanLink(source=0, target=None, shuffle=None), PlanLink(source=1, target=0, shuffle=0)),
    )


Advise = Callable[..., Result]


@pytest.fixture
def advise() -> Iterator[Advise]:
    """Runs the command against an agent that tells these plans, or that text."""
    servers = []

    def act(plans: list[QueryPlan] | str, *arguments: str, page: str | None = None) -> Result:
        body = plans if isinstance(plans, str) else plans_to_json(plans)
        told = {"/v1/plans": body} if page is None else {"/v1/plans": body, "/metrics": page}

        class Agent(http.server.BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                self.send_response(200 if self.path in told else 404)
                self.end_headers()
                self.wfile.write(told.get(self.path, "").encode())

            def log_message(self, *_: object) -> None:
                pass

        server = http.server.HTTPServer(("127.0.0.1", 0), Agent)
        threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
        servers.append(server)
        return CliRunner().invoke(main, ["advise", *arguments, "--attach", f"127.0.0.1:{server.server_port}"])

    yield act
    for server in servers:
        server.shutdown()
        server.server_close()


def test_the_tables_tell_keys_costs_and_why_and_sentences_what_to_do(advise: Advise) -> None:
    result = advise([chained()])
    assert result.exit_code == 0, result.output
    text = " ".join(result.output.split())
    assert "views: means of 3 batches on this plan" in text
    for cell in ("deduplication", "user, page", "2 KiB", "0.75", "Not needed: both sides can be spread"):
        assert cell in text
    assert 'Put .repartition(4, "user") before operator 1' in text
    assert "1 shuffle less a batch, which carries 2 KiB and takes 0.75 s of tasks." in text
    assert "start the changed query with a new checkpoint" in text


def test_json_tells_the_same(advise: Advise) -> None:
    (told,) = json.loads(advise([chained()], "--json").output)
    assert told["components"] == [[0, 1]]
    assert [one["need"] for one in told["shuffles"]] == ["Shared", "First"]
    (rewrite,) = told["rewrites"]
    assert (rewrite["columns"], rewrite["saved_bytes"], rewrite["worth_it"]) == (["user"], 2048.0, True)
    assert rewrite["sentences"][0].startswith("Key operators 0 and 1 alike")


def test_a_key_group_that_is_heavier_than_a_share_is_named_with_its_keys(advise: Advise) -> None:
    page = FakeAgent(batches=3, busy_s=[10.0, 10.0, 70.0, 10.0]).page()  # of operator 0, on four slots
    plans = [dataclasses.replace(chained(), query_id="q")]
    result = advise(plans, page=page)
    assert result.exit_code == 0, result.output
    text = " ".join(result.output.split())
    assert "Key group 2 of operator 0 takes 70 percent of its seconds, and a slot's share is 25" in text
    assert "pmod(hash(user), 4) = 2" in text
    (told,) = json.loads(advise(plans, "--json", page=page).output)
    assert [(one["operator"], one["partition"]) for one in told["too_heavy"]] == [(0, 2)]


def test_without_measurements_no_key_group_is_called_too_heavy(advise: Advise) -> None:
    (told,) = json.loads(advise([chained()], "--json").output)
    assert told["too_heavy"] == []


def test_columns_of_one_name_are_told_apart(advise: Advise) -> None:
    result = advise([chained(lower=(OTHER,))])
    assert "user#0" in result.output
    assert "user#2" in result.output
    assert "there is nothing to key alike" in result.output


def test_a_query_is_chosen_by_name_or_by_the_beginning_of_its_id(advise: Advise) -> None:
    for wanted in ("views", "0a"):
        assert advise([chained()], wanted).exit_code == 0
    result = advise([chained()], "clicks")
    assert (result.exit_code, "'clicks' given; the queries of this agent are views" in result.output) == (2, True)


def test_a_querys_name_steers_no_terminal(advise: Advise) -> None:
    result = advise([chained("\x1b]0;mine\x07views\nall is well")], "clicks")
    assert "queries of this agent are \ufffd]0;mine\ufffdviews all is well." in result.output


def test_no_plan_yet_and_no_agent_are_said(advise: Advise) -> None:
    result = advise([])
    assert (result.exit_code, "The agent knows no plan yet" in result.output) == (1, True)
    result = advise("nonsense")
    assert (result.exit_code, "The agent's plans cannot be read: they are not in the form" in result.output) == (
        1,
        True,
    )
    result = CliRunner().invoke(main, ["advise", "--attach", "127.0.0.1:1"])
    assert (result.exit_code, "does not answer" in result.output) == (1, True)
    result = CliRunner().invoke(main, ["advise", "--attach", "https://127.0.0.1:1"])
    assert (result.exit_code, "HOST:PORT or http://HOST:PORT is needed" in result.output) == (2, True)
