"""The page about long tests says what its JUnit files say, and which part was not run."""

from __future__ import annotations

from pathlib import Path

from e2e.long_tests import page, read

JUNIT = """<testsuites><testsuite tests="2" time="125.0" timestamp="2026-01-02T03:04:05+00:00">
<testcase name="test_noise_moves_nothing[two slots each]" time="63.4"/>
<testcase name="test_it_converges" time="0.4"><failure message="no"/></testcase>
</testsuite></testsuites>"""


def test_each_case_is_a_row_below_what_passed() -> None:
    head, _, rows = page([("simulated", JUNIT)]).partition("| case")
    assert "## Simulated\n\nRun on 2026-01-02: 1 of 2 passed in 2 minutes." in head
    assert rows.splitlines()[1:] == [
        "| --- | --- | --- |",
        "| noise moves nothing: two slots each | passed | 63 s |",
        "| it converges | **failed** | 0 s |",
    ]


def test_a_part_that_was_not_run_is_told_with_how_to_run_it(tmp_path: Path) -> None:
    text = page([("simulated", JUNIT), ("spark", read(tmp_path / "spark.xml"))])
    assert text.endswith("## Spark\n\nNot run yet: `make long-tests LONG=spark` does.\n")
