"""`python -m e2e.long_tests JUNIT PAGE`: what the newest run of `make long-tests` showed, as a page."""

from __future__ import annotations

import argparse
from pathlib import Path

from e2e.junit import COLUMNS, outcome, suite_of, table

HEAD = """# Long tests, case by case

`make test` tries each of these claims with one seed or world; `make long-tests` tries it with the others.
Written by `make long-tests PAGE=docs/long-tests.md` on {day}: {passed} of {cases} passed in {minutes} minutes, on two
cores that had other work, too.

"""


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("junit", type=Path, help="the file that pytest wrote, out/long-tests.xml")
    parser.add_argument("page", type=Path, help="the page to write")
    arguments = parser.parse_args()
    arguments.page.write_text(page(arguments.junit.read_text(encoding="utf-8")), encoding="utf-8")


def page(junit: str) -> str:
    """The page as Markdown, from the text of a JUnit file; raises ValueError when that holds no suite."""
    suite = suite_of(junit)
    cases = list(suite.iter("testcase"))
    head = HEAD.format(
        day=suite.attrib["timestamp"][:10],
        passed=sum(outcome(case) == "passed" for case in cases),
        cases=len(cases),
        minutes=round(float(suite.attrib["time"]) / 60.0),
    )
    return head + table(cases, COLUMNS[:3])


if __name__ == "__main__":
    main()
