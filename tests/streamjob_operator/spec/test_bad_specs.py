from pathlib import Path
from typing import Any

import pytest
import yaml

from streamjob_operator.spec import SpecError, parse_job
from streamjob_operator.spec.quantities import parse_size
from streamjob_planners import registry

ROOT = Path(__file__).resolve().parents[3]
TABLE: dict[str, Any] = yaml.safe_load((ROOT / "tests/data/bad_specs.yaml").read_text(encoding="utf-8"))


def test_the_spec_that_the_table_breaks_is_valid() -> None:
    assert parse_job(TABLE["valid"]).metadata.name == "airline-delays"


@pytest.mark.parametrize("case", TABLE["cases"], ids=[case["what"] for case in TABLE["cases"]])
def test_a_broken_spec_gets_its_sentence(case: dict[str, Any]) -> None:
    assert case["old"] in TABLE["valid"]
    planners = ", ".join(registry.names())
    with pytest.raises(SpecError) as refused:
        parse_job(TABLE["valid"].replace(case["old"], case["new"], 1))
    assert list(refused.value.sentences) == [one.replace("{planners}", planners) for one in case["sentences"]]


def test_every_mistake_of_a_spec_is_told_at_once() -> None:
    broken = TABLE["valid"].replace("min: 2", "min: none").replace(": 5m", ": soon").replace("70", "700")
    with pytest.raises(SpecError) as refused:
        parse_job(broken)
    assert [one.partition(":")[0] for one in refused.value.sentences] == [
        "spec.executors.min",
        "spec.balancing.statisticsPeriod",
        "spec.scaling.targetUtilization",
    ]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("spec: {executors: {min: {{ least }}}}", "Line 1: a map or a list cannot be a field's name"),
        ("spec: {? [a, b] : 1}", "Line 1: a map or a list cannot be a field's name"),
        ("spec: {!!binary aGk=: 1}", "Line 1: bytes cannot be a field's name"),
        ("spec: {!!timestamp 2001-01-01: 1}", "Line 1: date cannot be a field's name"),
        ("spec: &a {metadata: *a}", "This cannot be read: a map or a list is a part of itself"),
        (r'spec: {metadata: "\ud800"}', "This cannot be read: one of its texts has half of a character"),
        ("spec: " + "[" * 300 + "]" * 300, "This is nested too deeply"),
        ("spec: " + "[" * 5000 + "]" * 5000, "This is nested too deeply"),
        ("# nothing but this", "StreamJob: nothing given; a map with apiVersion, kind ... is needed."),
        ("spec: {executors: {min: " + "9" * 5000 + "}}", "Line 1: a number of 5,000 characters given"),
    ],
)
def test_what_a_reader_of_yaml_chokes_on_is_told(text: str, told: str) -> None:
    with pytest.raises(SpecError) as refused:
        parse_job(text)
    assert refused.value.sentences[0].startswith(told)


@pytest.mark.parametrize("text", ["{}s", "{0}d{0}d"])
def test_a_number_beyond_all_numbers_is_refused_as_any_other_text(text: str) -> None:
    with pytest.raises(SpecError, match=r"a duration such as .* is needed"):
        parse_job(TABLE["valid"].replace("5m", text.format("9" * 309)))
    with pytest.raises(ValueError, match=r"a byte size such as .* is needed"):
        parse_size("9" * 308 + "Gi")


SHARED = """
apiVersion: streamjob.dev/v1alpha1
kind: StreamJob
metadata: {name: shared}
spec:
  application:
    mainFile: job.py
    driver: &pod {cores: 1, memory: 2g}
    executor: {<<: *pod, cores: 4}
  executors: {min: 1, max: 2}
"""


def test_what_an_anchor_names_can_be_merged_into_another_map() -> None:
    """`<<` was told to be no YAML; a field beside it stands above the one that it brings."""
    application = parse_job(SHARED).spec.application
    assert application is not None
    assert (application.executor.cores, application.executor.memory) == (4, "2g")


def test_a_field_twice_beside_a_merged_map_is_still_a_mistake() -> None:
    with pytest.raises(SpecError, match="cores: written twice"):
        parse_job(SHARED.replace("cores: 4", "cores: 4, cores: 5"))
