"""The page about the suite says what its JUnit file says."""

from __future__ import annotations

import pytest
from e2e.cluster.versions import OLDEST
from e2e.suite.page import page

JUNIT = """<testsuites><testsuite tests="3" time="125.0" timestamp="2026-01-02T03:04:05+00:00">
<testcase name="test_it_is_balanced" time="63.4">
<properties><property name="told" value="distance 9|2"/></properties></testcase>
<testcase name="test_it_is_refused_when_it[reads secrets]" time="0.4"><failure message="no"/></testcase>
<testcase name="test_kafka" time="0.0"><skipped message="no jars"/></testcase>
</testsuite></testsuites>"""


def test_each_case_is_a_row_with_outcome_time_and_figures() -> None:
    rows = [line for line in page(JUNIT).splitlines() if line.startswith("| ")][2:]
    assert rows == [
        "| it is balanced | passed | 63 s | distance 9\\|2 |",
        "| it is refused when it: reads secrets | **failed** | 0 s |  |",
        "| kafka | left out | 0 s |  |",
    ]


def test_the_head_counts_what_passed() -> None:
    assert "2026-01-02" in page(JUNIT)
    assert "1 of 3 cases passed in 2 minutes" in page(JUNIT)


def test_the_head_names_the_cluster() -> None:
    assert "`make e2e` wrote" in page(JUNIT)
    assert "`make e2e CLUSTER=kind` wrote" in page(JUNIT, "kind")
    assert "two workers (`e2e/kind`)\nof Kubernetes 1.34" in page(JUNIT, "kind")
    oldest = page(JUNIT, "kind", OLDEST)
    assert "`make e2e CLUSTER=kind KUBERNETES=1.30` wrote" in oldest
    assert "Kubernetes 1.30" in oldest


def test_a_file_without_a_suite_is_refused() -> None:
    with pytest.raises(ValueError, match="no <testsuite>"):
        page("<testsuites/>")
