"""Makes every page of docs/reference/ from the code and the tables that the tests read.

`python docs/reference/make.py` writes them, with `--check` it ends with 1 and names those that are stale.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from making import agent, bad_specs, fields, metrics, spark_applications, words
from making.tables import NOTICE, table

FOLDER = Path(__file__).parent
PAGES: dict[str, tuple[str, Callable[[], str]]] = {
    "streamjob.md": ("every field of a StreamJob, what you write and what you read", fields.stream_job_page),
    "partitionmap.md": ("every field of a PartitionMap, by which operator and agent talk", fields.partition_map_page),
    "conditions.md": ("phases and conditions of a StreamJob", words.conditions_page),
    "reasons.md": ("reason codes: why something was done, or not", words.reasons_page),
    "events.md": ("events on a cluster", words.events_page),
    "annotations.md": ("annotations and labels, the finalizer, field managers", words.annotations_page),
    "agent.md": ("the agent in the driver: settings, HTTP, what it changes in Spark, its limits", agent.page),
    "metrics.md": ("Prometheus series of the agent and of the operator", metrics.page),
    "sparkapplication.md": ("every field of a SparkApplication, and how a StreamJob says it", spark_applications.page),
    "bad-specs.md": ("broken specs and the sentences they get", bad_specs.page),
}
MEASURED = {"compatibility.md": "what the agent was tried with, by `make spark-compatibility`"}
"""Pages that others write."""


def rendered() -> dict[str, str]:
    """Text of each page, by its file's name."""
    pages = {name: f"{make()}\n{NOTICE}" for name, (_, make) in PAGES.items()}
    about = {name: told for name, (told, _) in PAGES.items()} | MEASURED
    index = table(("page", "what is in it"), [(f"[{name}]({name})", told) for name, told in about.items()])
    return {"README.md": f"# Reference\n\n{index}\n{NOTICE}", **pages}


def main() -> None:
    """Write the pages, or check them."""
    stale = [name for name, text in rendered().items() if _text(FOLDER / name) != text]
    if "--check" in sys.argv[1:]:
        for name in stale:
            print(f"docs/reference/{name} is stale: run `make reference`.", file=sys.stderr)
        raise SystemExit(1 if stale else 0)
    for name in stale:
        (FOLDER / name).write_text(rendered()[name], encoding="utf-8")
        print(f"docs/reference/{name} written.")


def _text(path: Path) -> str | None:
    return path.read_text(encoding="utf-8") if path.exists() else None


if __name__ == "__main__":
    main()
