"""Samples as the suite applies them: what it does not change stays as users read it."""

from __future__ import annotations

import pytest
import yaml
from e2e.suite.samples import FOLDER, merged, sample
from e2e.suite.world import filled


def test_objects_are_merged_key_by_key_and_all_else_is_replaced() -> None:
    below = {"a": {"b": 1, "c": [1, 2]}, "d": 1, "e": "stays"}
    above = {"a": {"b": 2, "c": [3], "new": {"x": 1}}, "d": {"y": 2}}
    assert merged(below, above) == {"a": {"b": 2, "c": [3], "new": {"x": 1}}, "d": {"y": 2}, "e": "stays"}
    assert below == {"a": {"b": 1, "c": [1, 2]}, "d": 1, "e": "stays"}


def test_none_removes() -> None:
    assert merged({"a": 1, "b": {"c": 1, "d": 2}}, {"a": None, "b": {"c": None}}) == {"b": {"d": 2}}


def test_the_kafka_jobs_changes_are_those_of_the_cluster() -> None:
    changes = yaml.safe_load(filled("sensors.yaml", AGENT_IMAGE="localhost/a:1", CONNECTOR_JARS="local:///data/a.jar"))
    found, as_it_is = sample("kafka", changes)["spec"], sample("kafka", {})["spec"]
    assert found["application"]["image"] == "localhost/a:1"
    assert found["application"]["mainFile"] == as_it_is["application"]["mainFile"]
    assert found["balancing"]["planner"] == as_it_is["balancing"]["planner"]
    assert found["scaling"] == as_it_is["scaling"]
    provider = "spark.sql.streaming.stateStore.providerClass"
    assert found["application"]["sparkConf"][provider] == as_it_is["application"]["sparkConf"][provider]


@pytest.mark.parametrize("script", ["sensors.py"])
def test_scripts_that_samples_name_lie_beside_them(script: str) -> None:
    named = [path for path in FOLDER.glob("*.yaml") if f"/app/{script}" in path.read_text(encoding="utf-8")]
    assert named
    compile((FOLDER / script).read_text(encoding="utf-8"), script, "exec")
