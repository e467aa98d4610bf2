"""The page about long tests says what its JUnit file says."""

from __future__ import annotations

from e2e.long_tests import page

JUNIT = """<testsuites><testsuite tests="2" time="125.0" timestamp="2026-01-02T03:04:05+00:00">
<testcase name="test_noise_moves_nothing[two slots each]" time="63.4"/>
<testcase name="test_it_converges" time="0.4"><failure message="no"/></testcase>
</testsuite></testsuites>"""


def test_each_case_is_a_row_below_what_passed() -> None:
    head, rows = page(JUNIT).split("\n\n", 2)[1:]
    assert "on 2026-01-02: 1 of 2 passed in 2 minutes" in head
    assert rows.splitlines() == [
        "| case | outcome | time |",
        "| --- | --- | --- |",
        "| noise moves nothing: two slots each | passed | 63 s |",
        "| it converges | **failed** | 0 s |",
    ]
