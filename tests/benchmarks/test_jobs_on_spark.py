"""Jobs on real Spark: what is read of Spark's log, what it is worth, what is kept and compared. Without Spark."""

from __future__ import annotations

import dataclasses
import datetime
import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
import yaml
from benchmarks import event_log
from benchmarks.jobs_on_spark import compared, page, piece, publish, running, shapes, systems, waits
from benchmarks.jobs_on_spark.figures import figures
from benchmarks.jobs_on_spark.machine import Meter, Share, Spent, between
from paper_log import batches, begins, ends, progress

AMOUNTS = piece.Amounts(rows=100, batches=4, skip=2, key_groups=2)
PIECE = piece.Piece(job="fraud", shape="cpu", system="vanilla", round=0, amounts=AMOUNTS)


def executors() -> list[dict[str, Any]]:
    began_ms = 1_000 * int(event_log.told([progress(0)]).batches[0].began_s)
    return [
        {"Event": "SparkListenerExecutorAdded", "Timestamp": began_ms - 5000, "Executor ID": "0"},
        {"Event": "SparkListenerExecutorAdded", "Timestamp": began_ms + 6000, "Executor ID": "1"},
    ]


def looks(every_s: float = 1.0, ours: float = 0.5, all_: float = 0.75) -> list[Spent]:
    began_s = event_log.told([progress(0)]).batches[0].began_s
    return [
        Spent(at_s=began_s + took_s, alone_s=took_s * ours / 5, ours_s=took_s * ours, all_s=took_s * all_)
        for took_s in (i * every_s for i in range(-5, 20))
    ]


def test_figures_are_of_warm_batches() -> None:
    seen = event_log.told([*executors(), *batches([("0", "1"), ("0", "0"), ("0", "0"), ("0", "1")])])
    found = figures(seen, 2, looks(), cores=2)
    assert found.batch_s == [2.0, 2.0]
    assert found.rate_rps == pytest.approx(500.0)
    assert found.cpu_s == pytest.approx(0.5 * 4.0 / 2000 * 1e6)
    assert found.first_cpu_s == pytest.approx(0.1 * 4.0 / 2000 * 1e6)
    assert found.others_ratio == pytest.approx(0.125)
    assert found.remote_mb == pytest.approx(6 * 3000 / 2000)
    assert found.task_cpu_s == pytest.approx(2 * (0.2 + 0.45 + 0.15) / 2000 * 1e6)
    assert found.executor_h == pytest.approx((4.0 + 2.0) / 3600 / 2000 * 1e6), "one came in mid-span"
    assert (found.moves, found.early_moves) == (1, 1)
    assert found.moved_rows == pytest.approx(20.0), "half of 40 rows"


def test_what_an_even_placement_would_win_is_bounded_by_the_longest_task() -> None:
    found = figures(event_log.told(batches([("0", "0"), ("0", "0"), ("0", "1")])), 1, looks(), cores=2)
    assert found.stateful_ratio == pytest.approx((1.2 + 0.9) / 4.0)
    assert found.reachable_ratio == pytest.approx(0.3 / 4.0)
    assert found.staying_ratio == pytest.approx(0.3 / 4.0), "the long one lies alone"


def working(*batches: tuple[tuple[int, str, int], ...]) -> event_log.Told:
    """Batches of key groups, each with its executor and milliseconds."""
    seen = []
    for number, tasks in enumerate(batches):
        seen += [begins(10 * number, number), *(ends(10 * number + 1, *task) for task in tasks), progress(number)]
    return event_log.told(seen)


def test_what_one_placement_would_win_knows_no_batch_beforehand() -> None:
    """Two of three key groups work in each batch, in turns: wherever they lie, two of them meet in one."""
    zero, one, two = (0, "0", 800), (1, "0", 800), (2, "1", 800)
    found = figures(working((zero, one), (zero, one), (one, two), (two, zero)), 1, looks(), cores=2)
    assert found.reachable_ratio == pytest.approx(0.8 / 6.0)
    assert found.staying_ratio == pytest.approx(0.0)


def test_an_even_placement_that_stays_may_be_worse_than_todays() -> None:
    """By all seconds the longest key group lies alone, so that those meet that work at the same time."""
    both, alone = ((0, "0", 900), (1, "1", 900)), ((2, "0", 1000),)
    found = figures(working(both, both, alone), 1, looks(), cores=2)
    assert found.reachable_ratio == pytest.approx(0.0)
    assert found.staying_ratio == pytest.approx(-0.9 / 4.0)


def test_batches_that_only_close_windows_count_in_the_rate_and_not_among_batches() -> None:
    seen = event_log.told([progress(0), progress(1), progress(2, rows=0), progress(3), progress(4, rows=0)])
    found = figures(seen, 1, looks(), cores=2)
    assert found.batch_s == [2.0, 2.0]
    assert found.rate_rps == pytest.approx(2000 / 6.0), "what comes after the last rows does not"


def test_the_slowest_query_s_rate_is_the_job_s() -> None:
    slow = [progress(number, rows=100, query="slow") for number in range(3)]
    found = figures(event_log.told([*map(progress, range(3)), *slow]), 1, looks(), cores=2)
    assert found.rate_rps == pytest.approx(50.0)
    assert len(found.batch_s) == 4


def test_rows_are_those_of_the_input_however_often_spark_reads_them(tmp_path: Path) -> None:
    """Its own count has a stream's rows for each use of it, and none that a filter kept back."""
    checkpoint = tmp_path / "checkpoint"
    for folder in ("offsets", "commits", "sources/0"):
        (checkpoint / folder).mkdir(parents=True)
    (checkpoint / "metadata").write_text('{"id": "q"}')
    for number, rows in enumerate((3, 5)):
        file = tmp_path / "events" / f"{number}.json"
        file.parent.mkdir(exist_ok=True)
        file.write_text('{"kind": "view"}\n' * rows)
        entry = {"path": file.as_uri(), "timestamp": 0, "batchId": number}
        (checkpoint / "sources" / "0" / str(number)).write_text(f"v1\n{json.dumps(entry)}")
        metadata = {"batchTimestampMs": 0, "batchWatermarkMs": 0}
        offsets = ["v1", json.dumps(metadata), *[json.dumps({"logOffset": number})] * 2]
        (checkpoint / "offsets" / str(number)).write_text("\n".join(offsets))
        (checkpoint / "commits" / str(number)).write_text("v1\n{}")
    seen = event_log.told([progress(0, rows=6), progress(1, rows=2)])
    assert [one.rows for one in running.of_input(seen, [checkpoint]).batches] == [3, 5]


def test_a_run_without_warm_batches_says_so() -> None:
    with pytest.raises(ValueError, match="more than 4 are needed"):
        figures(event_log.told(map(progress, range(3))), 4, looks(), cores=2)


def test_what_others_took_is_never_less_than_nothing() -> None:
    seen = [Spent(at_s=0.0, alone_s=0.0, ours_s=0.0, all_s=0.0), Spent(at_s=2.0, alone_s=1.0, ours_s=3.0, all_s=2.0)]
    assert between(seen, 0.0, 1.0) == Share(alone_s=0.5, ours_s=1.5, others_s=0.0)


def measured(batch_s: list[float], rate_rps: float = 500.0, **more: Any) -> dict[str, Any]:
    """A line as a run has it."""
    zero = dict.fromkeys(
        ("local_mb", "moved_rows", "stateful_ratio", "reachable_ratio", "staying_ratio", "others_ratio"), 0.0
    )
    spent = {"cpu_s": 10.0, "first_cpu_s": 1.25, "task_cpu_s": 5.0, "remote_mb": 0.0, "executor_h": 0.1}
    counts = {"moves": 0, "early_moves": 0, "failed_tasks": 0, "differences": [], "loop_s": [0.5, 0.6], "took_s": 60.0}
    return {"batch_s": batch_s, "rate_rps": rate_rps, **zero, **spent, **counts, **more}


def kept(system: str, turn: int, batch_s: list[float], rate_rps: float = 500.0, **more: Any) -> dict[str, Any]:
    which = dataclasses.replace(PIECE, system=system, round=turn)
    return {**dataclasses.asdict(which), **measured(batch_s, rate_rps, **more)}


def test_a_call_goes_on_where_the_last_one_stopped_and_a_torn_line_is_run_again(tmp_path: Path) -> None:
    file = tmp_path / piece.RUNS
    all_ = list(piece.wanted(["fraud"], "cpu", ["vanilla", "balance"], 2, {"fraud": AMOUNTS}))
    assert [(one.system, one.round) for one in all_] == [
        ("vanilla", 0),
        ("balance", 0),
        ("balance", 1),
        ("vanilla", 1),
    ], "systems take turns"
    piece.append(file, all_[0], measured([1.0]))
    file.write_text(file.read_text() + '{"job": "fra')
    piece.append(file, all_[2], measured([1.0]))
    assert list(piece.missing(iter(all_), piece.read(file))) == [all_[1], all_[3]]


def test_other_amounts_are_other_runs() -> None:
    more = dataclasses.replace(PIECE, amounts=dataclasses.replace(AMOUNTS, rows=200))
    assert list(piece.missing(iter([more]), [kept("vanilla", 0, [1.0])])) == [more]


def test_how_long_a_run_takes_is_known_from_those_before() -> None:
    assert piece.usual_s(PIECE, [kept("balance", 0, [1.0], took_s=70.0), kept("vanilla", 0, [1.0])]) == 70.0
    assert piece.usual_s(PIECE, []) == piece.UNKNOWN_S


def test_rounds_are_compared_with_the_same_round_of_plain_spark() -> None:
    lines = [
        kept("balance", 0, [1.0, 1.0]),
        kept("vanilla", 0, [2.0, 2.0]),
        kept("vanilla", 1, [4.0, 4.0]),
        kept("balance", 1, [3.0, 3.0]),
        kept("balance", 2, [9.0, 9.0]),
    ]
    plain, ours = compared.rows(lines)
    assert plain.ratios is None
    assert ours.ratios is not None
    assert ours.ratios["p50"] == compared.Figure(mean=0.625, spread=0.25, trials=2), "the third round has no other side"
    assert "remote_mb" not in ours.ratios, "nothing over nothing"
    assert (ours.p50_s, ours.rounds) == (3.0, 3)


def test_a_difference_is_told_only_beyond_what_plain_spark_differs_from_itself() -> None:
    def rows(rates: tuple[float, ...], ours: tuple[float, ...]) -> list[compared.Row]:
        plain = [kept("vanilla", turn, [1.0], rate) for turn, rate in enumerate(rates)]
        return compared.rows([*plain, *(kept("balance", turn, [one]) for turn, one in enumerate(ours))])

    steady, noisy = (500.0, 500.0), (400.0, 600.0)
    for rates, ours, wanted in (
        (steady, (0.90, 0.92), "faster"),
        (steady, (0.90, 1.02), "no difference"),
        (steady, (1.10, 1.06), "slower"),
        (noisy, (0.90, 0.92), "no difference"),
        (noisy, (0.70, 0.72), "faster"),
        (steady, (0.50,), "one round"),
        (steady * 2, (0.50, 0.50, 0.50, 1.00), "no difference"),
        (steady * 2, (1.60, 1.60, 1.60, 1.00), "no difference"),
        (steady * 2, (0.80, 0.85, 0.90), "faster"),
    ):
        plain, mine = rows(rates, ours)
        assert compared.verdict(mine, plain) == wanted, (rates, ours)


def test_settings_of_a_system_are_above_those_of_all(tmp_path: Path) -> None:
    shape = shapes.named("cpu")
    mine = running.settings(
        dataclasses.replace(PIECE, system="vanilla-locality"), shape, tmp_path, tmp_path / "waits.jar"
    )
    plain = running.settings(PIECE, shape, tmp_path, tmp_path / "waits.jar")
    assert mine["spark.locality.wait"] == "0s"
    assert {key: value for key, value in mine.items() if key != "spark.locality.wait"} == plain


def test_tasks_wait_only_where_a_shape_says_so(tmp_path: Path) -> None:
    jar = tmp_path / "waits.jar"
    plain = running.settings(PIECE, shapes.named("cpu"), tmp_path, jar)
    waiting = running.settings(PIECE, shapes.named("waiting-4"), tmp_path, jar)
    assert "spark.plugins" not in plain
    assert waiting[waits.SETTING] == "1000000"
    assert waits.SETTING in waits.SOURCE.read_text(), "the name that the plugin reads"


@pytest.mark.parametrize("system", [one.name for one in systems.SYSTEMS if one.ours is not None])
def test_streamjobs_are_valid(system: str, tmp_path: Path) -> None:
    from streamjob_operator.spec.reading import parse_job

    which = dataclasses.replace(PIECE, system=system)
    for shape in shapes.SHAPES:
        conf = running.settings(which, shape, tmp_path, tmp_path / "waits.jar")
        job = parse_job(yaml.safe_dump(running.streamjob(which, shape, ["fraud"], conf)))
        assert job.spec.executors.max == shape.executors


def test_names_that_are_not_there_are_told_with_those_that_are() -> None:
    with pytest.raises(ValueError, match=r"systems: 'x' given; known are vanilla, .*collocation"):
        systems.named("x")
    with pytest.raises(ValueError, match="shape: 'x' given; known are cpu"):
        shapes.named("x")


def test_the_page_says_what_was_won_and_that_nothing_was(tmp_path: Path) -> None:
    lines = [
        line
        for turn in range(2)
        for line in (
            kept("vanilla", turn, [2.0, 2.0], reachable_ratio=0.3, staying_ratio=0.2, stateful_ratio=0.5),
            kept("balance", turn, [1.5, 1.5], moves=3),
            {**kept("vanilla", turn, [2.0]), "job": "ysb"},
            {**kept("balance", turn, [2.02]), "job": "ysb"},
        )
    ]
    text = page.page(compared.rows(lines), datetime.date(2026, 11, 25), Path("pictures/x.png"))
    assert "| faster | `fraud` | balance | 0.75 (±0.00) | 30 % | 3 |" in text
    assert "| no difference | `ysb` | balance | 1.01 (±0.00) | 0 % | 0 |" in text
    assert "last on 2026-11-25" in text
    assert "| `fraud` | 100 | vanilla | 2, all | 2.00 / 2.00 / 2.00 |" in text
    assert " | 50 % | 30 % | 20 % |\n" in text
    assert "| `ysb` | vanilla | 10 (±0) | 5 (±0) |  |" in text
    assert "| `ysb` | balance | 10 (±0) | 5 (±0) | 1.2 (±0.0) |" in text
    before = [dataclasses.replace(one, staying_ratio=None) for one in compared.rows(lines)]
    text = page.page(before, datetime.date(2026, 11, 25), Path("pictures/x.png"))
    assert " | 50 % | 30 % |  |\n" in text, "where it was not looked at yet"
    table, _, rest = text.partition("## Not run yet\n\n- ")
    assert "`collocation`" not in table
    assert rest.startswith("on `cpu` `albic-1`")
    assert "`ysb`" not in rest
    assert "`collocation`" in rest


def test_limits_keep_rows_that_were_not_run_again(tmp_path: Path) -> None:
    before = compared.rows([kept("vanilla", 0, [2.0]), kept("balance", 0, [1.0])])
    file = tmp_path / "limits.json"
    file.write_text(json.dumps([dataclasses.asdict(one) for one in before]))
    read = publish.read(file)
    assert read == before
    again = compared.rows([kept("balance", 0, [1.1]), {**kept("vanilla", 0, [3.0]), "job": "ysb"}])
    assert [(one.job, one.system, one.p50_s) for one in publish.merged(read, again)] == [
        ("fraud", "vanilla", 2.0),
        ("fraud", "balance", 1.1),
        ("ysb", "vanilla", 3.0),
    ]


def test_a_picture_is_drawn_of_whatever_there_is(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    from benchmarks.jobs_on_spark.picture import draw

    draw(compared.rows([kept("vanilla", 0, [2.0]), kept("balance", 0, [1.0])]), tmp_path / "folder" / "x.png")
    assert (tmp_path / "folder" / "x.png").stat().st_size > 1000


def test_a_meter_counts_the_process_and_what_it_began_and_forgets_none_that_ended() -> None:
    # What it began computes until it is ended, so that however the two take turns it is seen at work first.
    begun = "child = subprocess.Popen([sys.executable, '-c', 'while True: pass'])"
    work = f"import subprocess, sys; {begun}; input(); child.kill(); child.wait()"
    with subprocess.Popen([sys.executable, "-c", work], stdin=subprocess.PIPE) as process:
        meter = Meter(process.pid)
        until_s = time.monotonic() + 60.0
        while time.monotonic() < until_s and (not meter.seen or meter.seen[-1].ours_s < 0.1):
            meter.look()
            time.sleep(0.02)
        process.communicate(b"\n")
    meter.look()
    assert meter.seen[-1].ours_s >= 0.1, "what has ended counts, too"
    assert meter.seen[-1].alone_s < meter.seen[-1].ours_s
    assert meter.seen[-1].all_s >= meter.seen[0].all_s > 0


@pytest.mark.parametrize(
    ("grows", "ends_s"), [(False, 13.5), (True, 30.0)], ids=["its windows are closed", "its clock goes on for ever"]
)
def test_a_run_is_over_once_all_is_in_and_no_batch_comes_or_none_is_worth_waiting_for(
    grows: bool, ends_s: float
) -> None:
    end, at_s, made = running.End(28, 0.0), 0.0, 0
    while True:
        at_s += 0.5
        steps = min(28, int(2.8 * at_s))  # the last after 10 s
        made = max(made + grows, steps)
        if end.come([(made, steps), (28, 28)], at_s):
            break
    assert at_s == ends_s


def test_a_run_that_stands_still_before_all_is_in_is_not_over() -> None:
    end = running.End(28, 0.0)
    assert not any(end.come([(3, 3)], at_s) for at_s in range(1, 300))
