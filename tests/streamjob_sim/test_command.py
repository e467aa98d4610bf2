from pathlib import Path

import pytest
import yaml
from click.testing import CliRunner
from sim_worlds import BASE, HOT, merged, operators

from streamjob_operator.offline.snapshot_file import read_moment
from streamjob_planners import registry
from streamjob_sim.command import simulate_command
from streamjob_sim.world import START_S


@pytest.fixture
def skewed(tmp_path: Path) -> Path:
    path = tmp_path / "world.yaml"
    changes = {"duration": "10m", "operators": operators({"skew": HOT}), "executors": {"placement": "Piled"}}
    path.write_text(yaml.safe_dump(merged(BASE, changes)))
    return path


def test_planners_stand_side_by_side_and_are_drawn(skewed: Path, tmp_path: Path) -> None:
    plot = tmp_path / "deep" / "runs.png"
    arguments = [str(skewed), "--planner", "none", "--planner", "greedy", "--plot", str(plot)]
    result = CliRunner().invoke(simulate_command, arguments)
    assert result.exit_code == 0, result.output
    assert "none" in result.output
    assert "greedy" in result.output
    moves = next(line for line in result.output.splitlines() if " moves " in line)
    assert [cell.strip() for cell in moves.split("│")[2:3]] == ["0"]
    assert plot.read_bytes().startswith(b"\x89PNG")


def test_a_bad_world_is_told_in_sentences(tmp_path: Path) -> None:
    path = tmp_path / "world.yaml"
    path.write_text(yaml.safe_dump(merged(BASE, {"arrival": {"rat": 1}})))
    result = CliRunner().invoke(simulate_command, [str(path)])
    assert result.exit_code == 2
    assert "arrival.rat: there is no such field; did you mean rate." in result.output


@pytest.mark.parametrize(
    "arguments", [["--planner", "best"], ["--plot", "runs.txt"], ["--snapshot-at", "soon"], ["--snapshot-to", "a.json"]]
)
def test_bad_options_are_refused(skewed: Path, arguments: list[str]) -> None:
    result = CliRunner().invoke(simulate_command, [str(skewed), *arguments])
    assert result.exit_code == 2


@pytest.mark.parametrize("planner", registry.names())
def test_every_planner_of_the_registry_can_be_tried(tmp_path: Path, planner: str) -> None:
    path = tmp_path / "world.yaml"
    changes = {"duration": "4m", "policy": {"balancing": {"planDeadline": "200ms"}}}
    path.write_text(yaml.safe_dump(merged(BASE, changes)))
    result = CliRunner().invoke(simulate_command, [str(path), "--planner", planner])
    assert result.exit_code == 0, result.output
    assert planner in result.output


def test_what_was_measured_at_a_time_is_kept_to_plan_on(skewed: Path, tmp_path: Path) -> None:
    target = tmp_path / "deep" / "snapshot.json"
    arguments = [str(skewed), "--planner", "greedy", "--snapshot-at", "3m", "--snapshot-to", str(target)]
    result = CliRunner().invoke(simulate_command, arguments)
    assert result.exit_code == 0, result.output
    snapshot = read_moment(target).snapshot
    assert 60 < snapshot.taken_at_s - START_S <= 240
    assert len(snapshot.group_ids) == 32


def test_a_world_is_not_written_over(tmp_path: Path) -> None:
    path = tmp_path / "world.yaml"
    path.write_text(yaml.safe_dump(merged(BASE, {"duration": "4m"})))
    before = path.read_text()
    again = tmp_path / "." / "world.yaml"
    arguments = [str(path), "--planner", "greedy", "--snapshot-at", "1m", "--snapshot-to", str(again)]
    result = CliRunner().invoke(simulate_command, arguments)
    assert path.read_text() == before
    assert result.exit_code == 2
    assert "that is what is read, and another file is needed" in " ".join(result.output.split())


def test_a_time_at_which_nothing_was_measured_is_told(skewed: Path, tmp_path: Path) -> None:
    target = tmp_path / "snapshot.json"
    arguments = [str(skewed), "--planner", "greedy", "--snapshot-at", "5h", "--snapshot-to", str(target)]
    result = CliRunner().invoke(simulate_command, arguments)
    assert result.exit_code == 2
    assert "Nothing was measured at 5h or later." in result.output
    assert not target.exists()


@pytest.mark.parametrize(
    "options", [["--plot", "FILE/runs.png"], ["--snapshot-at", "1s", "--snapshot-to", "FILE/a.json"]]
)
def test_a_file_that_cannot_be_written_is_told_after_the_table(tmp_path: Path, options: list[str]) -> None:
    path, file = tmp_path / "world.yaml", tmp_path / "file"
    path.write_text(yaml.safe_dump(merged(BASE, {"duration": "4m"})))
    file.touch()
    words = [one.replace("FILE", str(file)) for one in options]
    result = CliRunner().invoke(simulate_command, [str(path), "--planner", "greedy", *words])
    assert (result.exit_code, result.stderr) == (2, f"{file}: File exists.\n")
    assert "batch, mean" in result.stdout


def test_a_dollar_is_drawn_as_a_dollar(tmp_path: Path) -> None:
    path, plot = tmp_path / "world.yaml", tmp_path / "runs.svg"
    path.write_text(yaml.safe_dump(merged(BASE, {"duration": "2m", "description": r"from $1 to $\frac$"})))
    result = CliRunner().invoke(simulate_command, [str(path), "--planner", "none", "--plot", str(plot)])
    assert result.exit_code == 0, result.output
    assert plot.exists()
