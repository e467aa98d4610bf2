"""Makes charts/streamjob/README.md from the chart's values and their comments.

`python charts/readme.py` writes it, with `--check` it ends with 1 when it is stale.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import yaml

CHART = Path(__file__).parent / "streamjob"
PAGE = CHART / "README.md"
TOLD = re.compile(r"^(?P<indent> *)# -- (?P<text>.*)$")
MORE = re.compile(r"^ *# (?P<text>.*)$")
KEY = re.compile(r"^(?P<indent> *)(?P<name>[A-Za-z]+):")


def rendered() -> str:
    """The page."""
    text = (CHART / "values.yaml").read_text(encoding="utf-8")
    head = (CHART / "README.head.md").read_text(encoding="utf-8")
    values = yaml.safe_load(text)
    rows = [f"| `{path}` | `{_shown(_at(values, path))}` | {about} |" for path, about in described(text)]
    table = "\n".join(["| value | default | meaning |", "| --- | --- | --- |", *rows])
    return f"{head}\n## Values\n\n{table}\n\nMade by `make reference` from values.yaml; do not edit.\n"


def described(text: str) -> Iterator[tuple[str, str]]:
    """Path and description of every value that has one, in the order of the file."""
    path: list[str] = []
    about = ""
    for line in text.splitlines():
        told, key = TOLD.match(line), KEY.match(line)
        if told:
            about = told["text"]
        elif about and (more := MORE.match(line)):
            about += f" {more['text']}"
        elif key:
            path[len(key["indent"]) // 2 :] = [key["name"]]
            if about:
                yield ".".join(path), about
            about = ""


def leaves(values: Mapping[str, Any], above: str = "") -> Iterator[str]:
    """Paths of all values."""
    for name, value in values.items():
        path = f"{above}{name}"
        if isinstance(value, dict) and value:
            yield from leaves(value, f"{path}.")
        else:
            yield path


def _at(values: Mapping[str, Any], path: str) -> Any:
    for name in path.split("."):
        values = values[name]
    return values


def _shown(value: Any) -> str:
    return json.dumps(value)


def main() -> None:
    """Write the page, or check it."""
    if "--check" not in sys.argv[1:]:
        PAGE.write_text(rendered(), encoding="utf-8")
    elif not PAGE.exists() or PAGE.read_text(encoding="utf-8") != rendered():
        sys.exit(f"{PAGE} is stale: run `make reference`")


if __name__ == "__main__":
    main()
