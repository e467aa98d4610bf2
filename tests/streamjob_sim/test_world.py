from pathlib import Path

import pytest
import yaml
from sim_worlds import BASE, merged, operators, world

from streamjob_operator.spec import SpecError
from streamjob_sim.reading import parse_world, read_world
from streamjob_sim.simulate import job_of, with_planner
from streamjob_sim.world import NOBODY

SAMPLES = sorted((Path(__file__).parents[2] / "samples" / "worlds").glob("*.yaml"))


@pytest.mark.parametrize("path", SAMPLES, ids=lambda path: path.stem)
def test_samples_are_valid_and_say_what_they_show(path: Path) -> None:
    assert read_world(path).description


def test_there_are_samples() -> None:
    assert len(SAMPLES) >= 4


@pytest.mark.parametrize(
    ("changes", "field", "hint"),
    [
        ({"duration": 5}, "duration", "a duration such as"),
        ({"arrival": {"rate": -1}}, "arrival.rate", "at least 0"),
        ({"arrival": {"speed": 1}}, "arrival.speed", "there is no such field"),
        ({"arrival": {"steps": [{"at": "2m", "rate": 1}, {"at": "1m", "rate": 1}]}}, "arrival", "order of time"),
        ({"operators": []}, "operators", "at least one"),
        ({"operators": operators({"skew": {"hotShare": 2}})}, "operators[0].skew.hotShare", "at most 1"),
        ({"executors": {"placement": "Evn"}}, "executors.placement", "did you mean Even"),
        ({"executors": {"speeds": {"a": 1.0}}}, "executors", "an executor id"),
        ({"faults": [{"kind": "ExecutorDeath", "at": "1m", "for": "1m"}]}, "faults[0]", "'for' is not used"),
        ({"faults": [{"kind": "MetricsGaps", "at": "1m", "for": "1m"}]}, "faults[0]", "'share' is needed"),
        ({"policy": {"executors": {"min": 5, "max": 4}}}, "policy.executors", "min must not be above max"),
        (
            {"operators": operators({}, {"name": "b", "partitions": 8, "traffic": "OneToOne"})},
            "World",
            "both need the same partitions",
        ),
    ],
)
def test_mistakes_get_a_sentence_with_the_field(changes: dict[str, object], field: str, hint: str) -> None:
    with pytest.raises(SpecError) as caught:
        world(changes)
    (sentence,) = caught.value.sentences
    assert sentence.startswith(f"{field}:")
    assert hint in sentence


def test_a_world_is_a_map() -> None:
    with pytest.raises(SpecError, match="World: list given"):
        parse_world("[1]")


def test_a_missing_file_is_said(tmp_path: Path) -> None:
    with pytest.raises(SpecError, match="cannot be read"):
        read_world(tmp_path / "none.yaml")


def test_nobody_turns_the_controller_off() -> None:
    job = job_of(parse_world(yaml.safe_dump(merged(BASE, {"policy": {"scaling": {"mode": "Auto"}}}))))
    off = with_planner(job, NOBODY)
    assert (off.spec.balancing.mode, off.spec.scaling.mode) == ("Off", "Off")
    assert with_planner(job, "greedy").spec.balancing.planner == "greedy"
    assert with_planner(job, None) is job
