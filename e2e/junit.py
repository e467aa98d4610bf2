"""What a JUnit file of pytest says, as rows of a page."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator, Sequence
from xml.etree.ElementTree import Element, fromstring

MOST_TOLD = 240
COLUMNS = ("case", "outcome", "time", "what it showed")


def suite_of(junit: str) -> Element:
    """The suite of a JUnit file's text; raises ValueError where that holds none."""
    suite = next(fromstring(junit).iter("testsuite"), None)
    if suite is None:
        raise ValueError("The JUnit file has no <testsuite>.")
    return suite


def figures(suite: Element) -> dict[str, object]:
    """What heads of the pages say of a suite: its day, its cases, how many of them passed, and its minutes."""
    cases = list(suite.iter("testcase"))
    return {
        "day": suite.attrib["timestamp"][:10],
        "passed": sum(_outcome(case) == "passed" for case in cases),
        "cases": len(cases),
        "minutes": round(float(suite.attrib["time"]) / 60.0),
    }


def _outcome(case: Element) -> str:
    """Passed, failed or left out, in words of the pages."""
    bad = {"failure": "**failed**", "error": "**failed**", "skipped": "left out"}
    return next((bad[child.tag] for child in case if child.tag in bad), "passed")


def table(suite: Element, columns: Sequence[str] = COLUMNS) -> str:
    """Lines of a table in Markdown, of as many columns as there are names of them, the first of `COLUMNS`."""
    return "\n".join(_row(texts[: len(columns)]) for texts in (columns, ("---",) * len(columns), *_texts(suite))) + "\n"


def _texts(suite: Element) -> Iterator[Sequence[str]]:
    for case in suite.iter("testcase"):
        told = "; ".join(one.attrib["value"] for one in case.iter("property") if one.attrib["name"] == "told")
        told = textwrap.shorten(told, MOST_TOLD, placeholder=" ...")
        yield (_sentence(case.attrib["name"]), _outcome(case), f"{float(case.attrib['time']):.0f} s", told)


def _sentence(name: str) -> str:
    return re.sub(r"_", " ", name.removeprefix("test_")).replace("[", ": ").replace("]", "")


def _row(texts: Sequence[str]) -> str:
    return (
        "| "
        + " | ".join(re.sub(r"localhost/", "", text).replace("|", "\\|").replace("\n", " ") for text in texts)
        + " |"
    )
