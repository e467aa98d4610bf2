"""`python -m e2e.long_tests JUNIT... PAGE`: what the newest run of each part of `make long-tests` showed, as a page."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Iterator
from pathlib import Path

from e2e.junit import COLUMNS, figures, suite_of, table

HEAD = """# Long tests, case by case

`make test` tries each of these claims with one seed or world; `make long-tests PAGE=docs/long-tests.md` tries it with
the others and writes this page. Times are those of two cores that had other work, too.
"""
RAN = "Run on {day}: {passed} of {cases} passed in {minutes} minutes."
NOT_RUN = "Not run yet: `make long-tests LONG={part}` does."


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("junit", type=Path, nargs="+", help="what pytest wrote, a file for each part; may be missing")
    parser.add_argument("page", type=Path, help="the page to write")
    arguments = parser.parse_args()
    arguments.page.write_text(page((one.stem, read(one)) for one in arguments.junit), encoding="utf-8")


def read(junit: Path) -> str | None:
    """The file's text; None where that part was never run."""
    return junit.read_text(encoding="utf-8") if junit.exists() else None


def page(parts: Iterable[tuple[str, str | None]]) -> str:
    """The page as Markdown, from names of parts and texts of their JUnit files, None for a part that was not run.

    Raises ValueError where a text holds no suite.
    """
    return "\n".join((HEAD, *_sections(parts)))


def _sections(parts: Iterable[tuple[str, str | None]]) -> Iterator[str]:
    for part, junit in parts:
        told = f"{NOT_RUN.format(part=part)}\n" if junit is None else _ran(junit)
        yield f"## {part.capitalize()}\n\n{told}"


def _ran(junit: str) -> str:
    suite = suite_of(junit)
    return f"{RAN.format(**figures(suite))}\n\n{table(suite, COLUMNS[:3])}"


if __name__ == "__main__":
    main()
