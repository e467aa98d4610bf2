"""A run of the arena counts as made while the code is the same that it came from, and no longer."""

from __future__ import annotations

import pytest
from benchmarks.scaling import pieces


def told(rule: str) -> set[str]:
    """The files that its figures come from, by their last three names."""
    return {"/".join(file.parts[-3:]) for file in pieces.files(rule)}


@pytest.mark.parametrize(
    "file", ["benchmarks/scaling/arena.py", "streamjob_planners/capacity/cut.py", "streamjob_operator/steps/scale.py"]
)
@pytest.mark.parametrize("rule", ["batch-time", "utilization", "oracle"])
def test_what_every_run_uses_counts(rule: str, file: str) -> None:
    assert file in told(rule)


@pytest.mark.parametrize(
    ("rule", "counts"), [("batch-time", True), ("utilization", False), ("keda", False), ("oracle", False)]
)
def test_a_rule_counts_for_itself_alone(rule: str, counts: bool) -> None:
    assert ("scaling/batch_time/needs.py" in told(rule)) is counts
    assert ("streamjob_planners/forecast/past.py" in told(rule)) is counts


@pytest.mark.parametrize("rule", ["batch-time", "oracle"])
def test_what_no_run_uses_does_not_count(rule: str) -> None:
    assert not [file for file in pieces.files(rule) if {"kube", "standalone", "recording"} & set(file.parts)]
