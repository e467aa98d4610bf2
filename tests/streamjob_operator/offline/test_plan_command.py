import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from worlds import JOB, World

from streamjob_cli.main import main
from streamjob_operator.offline.proposal import default_job, propose, with_balancing
from streamjob_operator.offline.snapshot_file import Moment, read_moment, write_moment
from streamjob_planners import registry

SAMPLES = Path(__file__).parents[3] / "samples" / "snapshots"


def plan(*arguments: object) -> Result:
    return CliRunner().invoke(main, ["plan", *map(str, arguments)], env={"COLUMNS": "120"})


@pytest.fixture
def uneven(tmp_path: Path) -> Path:
    """Executor a holds everything: 4 groups of 20 points; b is empty."""
    world = World(loads=[20.0] * 4, owners=["a"] * 4, executors={"a": "ready", "b": "ready"})
    path = tmp_path / "snapshot.json"
    write_moment(path, Moment(snapshot=world.observe(1000.0, 10.0)))
    return path


def test_a_plan_is_printed_with_reasons_bound_and_effect(uneven: Path) -> None:
    result = plan("--from", uneven, "--planner", "search")
    assert result.exit_code == 0, result.output
    rows = {line.split("│")[1].strip(): line for line in result.output.splitlines() if line.startswith("│")}
    assert "40.00" in rows["load distance d, points"]
    assert "1.70 s" in rows["mean batch, measured"]
    assert "0.90 s" in rows["mean batch, predicted"]
    assert "0.90 s, proven optimal" in rows["its proven bound"]
    assert rows["moves, their cost once, state"].split("│")[3].strip().startswith("2, ")
    assert "170ms" in rows["moves may add to one batch"]
    assert "4 → 2" in rows["a"]
    assert "0 → 2" in rows["b"]
    assert "Relieve (2): its executor is above the mean." in result.output


def test_a_marked_executor_is_drained(uneven: Path) -> None:
    result = plan("--from", uneven, "--planner", "search", "--mark", "a")
    assert result.exit_code == 0, result.output
    assert "Drain (4): its executor is marked for removal." in result.output


def test_the_policy_of_a_job_counts(uneven: Path, tmp_path: Path) -> None:
    job = tmp_path / "job.yaml"
    job.write_text(JOB.replace("maxMigrations: 4", "maxMigrations: 1"))
    target = tmp_path / "deep" / "plan.json"
    result = plan("--from", uneven, "--job", job, "--json", target)
    assert result.exit_code == 0, result.output
    written = json.loads(target.read_text())
    assert written["planner"] == "greedy"
    assert len(written["moves"]) == 1
    assert written["after"]["load_distance"] == pytest.approx(20.0)
    assert written["batch_bound_s"] == pytest.approx(1.3, abs=0.01)


@pytest.mark.parametrize("name", registry.names())
def test_a_file_waits_for_its_plan_while_the_machine_stands_still(name: str) -> None:
    """Each look at the clock comes a hundred seconds after the one before."""
    job = with_balancing(default_job(), planner=name, plan_deadline_s=0.3)
    clock = iter(range(0, 10_000_000, 100))
    proposal = propose(read_moment(SAMPLES / "skewed-keys.json"), job, 1, lambda: float(next(clock)))
    assert proposal.violations == ()


@pytest.mark.parametrize("name", registry.names())
def test_every_planner_plans_on_every_sample(name: str) -> None:
    for sample in sorted(SAMPLES.glob("*.json")):
        result = plan("--from", sample, "--planner", name, "--deadline", "300ms")
        assert result.exit_code == 0, result.output
        assert f"Plan of '{name}'" in result.output or (name == "auto" and "by auto" in result.output)


@pytest.mark.parametrize(
    ("suffix", "begins"), [(".png", b"\x89PNG"), (".svg", b"<?xml"), (".html", b"<!doctype html>")]
)
def test_it_is_drawn(tmp_path: Path, suffix: str, begins: bytes) -> None:
    target = tmp_path / "deep" / f"plan{suffix}"
    sample = SAMPLES / "skewed-keys.json"
    result = plan("--from", sample, "--planner", "greedy", "--plot", target)
    assert result.exit_code == 0, result.output
    assert target.read_bytes().startswith(begins)


def test_a_page_tells_every_move(uneven: Path, tmp_path: Path) -> None:
    target = tmp_path / "plan.html"
    assert plan("--from", uneven, "--planner", "search", "--plot", target).exit_code == 0
    page = target.read_text()
    assert page.count("<td>Relieve: its executor is above the mean</td>") == 2
    assert "<svg" in page


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--from", "nowhere.json"], "nowhere.json: No such file or directory."),
        (["--planner", "best"], "'best' is not one of"),
        (["--mark", "z"], "--mark: 'z' given; the executors of this snapshot are a, b."),
        (["--mark", "a", "--mark", "b"], "--mark: every executor is marked for removal; one must stay."),
        (["--deadline", "soon"], "'soon' given"),
        (["--deadline", "0s"], "'0s' given; above 0 and at most 10m is needed"),
        (["--plot", "plan.txt"], "'plan.txt' given; a name that ends with .png"),
        (["--job", "nowhere.yaml"], "nowhere.yaml: cannot be read"),
    ],
)
def test_bad_input_is_a_sentence_and_exit_code_2(uneven: Path, arguments: list[str], sentence: str) -> None:
    source = [] if "--from" in arguments else ["--from", uneven]
    result = plan(*source, *arguments)
    assert result.exit_code == 2
    assert sentence in " ".join(result.output.split())
    assert "Traceback" not in result.output


def test_a_snapshot_that_makes_no_model_is_a_sentence(uneven: Path) -> None:
    uneven.write_text(uneven.read_text().replace('"busy_s":[2.0', '"busy_s":[-2.0'))
    result = plan("--from", uneven)
    assert result.exit_code == 2
    assert "busy_s: every value must be a finite number of 0 or more." in result.output


def test_a_plan_is_not_written_over_what_it_is_made_of(uneven: Path) -> None:
    before = uneven.read_text()
    result = plan("--from", uneven, "--json", uneven)
    assert (result.exit_code, "that is what is read, and another file is needed." in result.output) == (2, True)
    assert uneven.read_text() == before


def test_a_plan_that_cannot_be_written_is_told_with_its_file(uneven: Path) -> None:
    (uneven.parent / "file").touch()
    for name, sentence in (
        ("/dev/full", "/dev/full: No space left on device."),
        ("file/plan.json", "file: File exists."),
    ):
        result = plan("--from", uneven, "--planner", "hold", "--json", uneven.parent / name)
        assert (result.exit_code, sentence in result.output) == (2, True), result.output
