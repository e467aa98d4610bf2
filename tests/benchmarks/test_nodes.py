"""Nodes that are a wire apart: what is made, what is read from counters and logs, and what a made job answers."""

from __future__ import annotations

import dataclasses
import itertools
import json
import os
from pathlib import Path

import pytest
import yaml
from benchmarks.event_log import told
from benchmarks.nodes import talk
from benchmarks.nodes.__main__ import arguments
from benchmarks.nodes.fleet import Fleet
from benchmarks.nodes.kept import Kept
from benchmarks.nodes.network import BRIDGE, Unusable, network, node, read_card, to_make
from benchmarks.nodes.report import limits, row
from benchmarks.nodes.runs import PLANNERS, Batch, Case, Ran, batches_of, spark_conf, streamjob_spec
from paper_log import batches

from streamjob_operator.spec import parse_job
from streamjob_operator.standalone.submission import spark_settings


def test_every_cable_is_limited_at_both_ends() -> None:
    limited = [command for command in to_make((node(1), node(2)), 50.0) if "tbf" in command]
    assert [(command[2], command[6]) for command in limited] == [
        ("streamjob-nodes-hub", "port1"),
        ("streamjob-nodes-1", "eth0"),
        ("streamjob-nodes-hub", "port2"),
        ("streamjob-nodes-2", "eth0"),
    ]
    assert all("50mbit" in command for command in limited)


@pytest.mark.parametrize(("nodes", "mbit_s", "told"), [(0, 50.0, "nodes: 0 given"), (2, 0.0, "mbit_s: 0 given")])
def test_what_cannot_be_made_is_told(nodes: int, mbit_s: float, told: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    with pytest.raises(Unusable, match=told), network(nodes, mbit_s):
        pass


def test_without_root_nothing_is_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    with pytest.raises(Unusable, match="need root; this is user 1000"), network(2, 50.0):
        pass


def test_a_card_is_read_by_its_name() -> None:
    head = "Inter-| Receive | Transmit\n face |bytes\n"
    text = f"{head}  eth0: 17 1 0 0 0 0 0 0 23 2 0 0 0 0 0 0\nnodes0:5 1 0 0 0 0 0 0 6 2 0 0 0 0 0 0\n"
    assert (read_card(text, "eth0").received, read_card(text, "eth0").sent) == (17, 23)
    assert read_card(text, BRIDGE).received == 5
    with pytest.raises(ValueError, match="card eth1"):
        read_card(text, "eth1")


def test_a_made_job_talks_one_to_one_and_sends_as_much_in_both_shapes() -> None:
    keys = [[100 * p + i for i in range(2 * talk.KEYS)] for p in range(6)]
    made = {shape: talk.talk(keys, shape, 1024, 3) for shape in talk.SHAPES}
    links = {
        (key // 100, others[0] // 100) for key, others in zip(made["pairs"].first, made["pairs"].second, strict=True)
    }
    assert len(links) == 6  # each partition with one other, and no other has two
    assert {one for _, one in links} == set(range(6))
    spread = {
        (key // 100, others[1] // 100) for key, others in zip(made["half"].first, made["half"].second, strict=True)
    }
    assert len(spread) > 6
    for one in made.values():
        seconds = list(itertools.chain.from_iterable(one.second))
        assert len(set(seconds)) == len(seconds)
        assert one.payload_bytes * len(seconds) == 1024 * len(one.first)
    assert talk.answer(made["pairs"], 0)[0]["n"] == 1
    assert len(talk.answer(made["half"], 4)) == 2 * len(made["half"].first)


def test_a_batch_has_the_bytes_of_its_last_stage_and_of_all() -> None:
    found = {
        "talk": [
            {"id": "q", "batchId": 1, "timestamp": "2026-01-01T00:00:00.000Z", "durationMs": {"triggerExecution": 1500}}
        ]
    }
    (batch,) = batches_of(found, told(batches([("0", "1"), ("0", "1")])).tasks)
    assert (batch.number, batch.took_s, batch.last_local_bytes, batch.last_remote_bytes) == (1, 1.5, 2000, 6000)
    assert (batch.remote_bytes, batch.fetch_wait_s, batch.run_s) == (9000, pytest.approx(0.15), pytest.approx(1.3))


def test_the_wire_is_read_between_the_first_and_the_last_of_the_batches_that_count() -> None:
    batches = tuple(
        Batch(
            query="talk",
            number=number,
            began_at_s=10.0 + number,
            took_s=1.0,
            last_local_bytes=3 * 2**20,
            last_remote_bytes=2**20,
            remote_bytes=2**20,
            fetch_wait_s=0.1,
            run_s=0.5,
        )
        for number in range(12)
    )
    wire = ((9.0, 0), (15.0, 2**20), (25.0, 11 * 2**20))
    ran = Ran(batches=batches, wire=wire, cycles=(), localities={}, elsewhere=0, differences=())
    found = row(ran)
    assert found.local_pct == pytest.approx(75.0)
    assert found.wire_mib == pytest.approx((8.0 - 5.0 / 6.0) / 8.0, abs=0.2)
    assert (found.moves, found.exact, found.price_s_per_mib) == (0, True, None)

    amounts = {"nodes": 2, "executors": 1, "mbit_s": 50.0, "job": "pairs", "system": "vanilla", "at": "", "case": {}}
    (told,) = limits([Kept(**amounts, turn=0, ran=ran), Kept(**amounts, turn=1, ran=ran)])
    assert told["local_pct"] == {"mean": 75.0, "spread": 0.0, "trials": 2}
    assert told["price_s_per_mib"] is None


@pytest.mark.parametrize("planner", PLANNERS)
def test_every_side_of_streamjob_is_a_streamjob_and_gets_what_plain_spark_gets(planner: str) -> None:
    fleet = Fleet(sites=(node(1), node(2)), executors_per_node=1, folder=Path("/x"))
    case, folder = Case(job="pairs"), Path("/x")
    job = parse_job(yaml.safe_dump(streamjob_spec(fleet, case, planner, folder)))
    assert spark_settings(job.spec.application) == spark_conf(fleet, case, folder)


def test_what_the_command_line_leaves_out_can_be_handed_to_a_run() -> None:
    case = Case(job="pairs", batches=arguments([]).batches)
    assert json.loads(json.dumps(dataclasses.asdict(case)))["batches"] == Case(job="pairs").batches
