from pathlib import Path
from typing import Any

import pytest
import yaml

from streamjob_operator.spec import SpecError, parse_job
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
        ("spec: " + "[" * 5000 + "]" * 5000, "This is nested too deeply"),
        ("spec: {executors: {min: " + "9" * 5000 + "}}", "This cannot be read: Exceeds the limit (4300 digits)"),
    ],
)
def test_what_a_reader_of_yaml_chokes_on_is_told(text: str, told: str) -> None:
    with pytest.raises(SpecError) as refused:
        parse_job(text)
    assert refused.value.sentences[0].startswith(told)
