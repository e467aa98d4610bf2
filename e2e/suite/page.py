"""`python -m e2e.suite.page JUNIT PAGE [--cluster NAME]`: what the newest whole run of the suite showed, as a page.

With $KUBERNETES set as it was for the suite."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path

from e2e.cluster.versions import ASKED, NEWEST, Version, wanted
from e2e.junit import figures, suite_of, table

HEAD = """# The end-to-end suite, case by case

`make e2e{setting}` wrote the table's rows on {day}, on {cluster}
of Kubernetes {minor} that shared two cores and 24 GiB with everything else: control plane, operator, Prometheus,
Kafka, drivers and executors. {passed} of {cases} cases passed in {minutes} minutes, images built before. Times include
what a case's fixtures started.

{rest}
"""
CLUSTERS = {
    "local": "a local cluster (`e2e/cluster`)",
    "kind": "a cluster of kind with one control plane and two workers (`e2e/kind`)",
}
RESTS = {
    "local": """\
kind or a user's own cluster runs the same cases (`CLUSTER=kind` or `KUBECONFIG`, see `e2e/suite/__main__.py`); the
second node is made on the local cluster alone, elsewhere the cluster must have two.""",
    "kind": """\
The same cases [on kind with the newest minor](e2e-kind.md), [with the oldest](e2e-kind-oldest.md), and
[on the local cluster](e2e.md), which has two nodes and needs no Docker engine.""",
}
"""What the page says below the figures, for each cluster that the suite makes."""


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("junit", type=Path, help="the file that the suite wrote, out/e2e/junit.xml")
    parser.add_argument("page", type=Path, help="the page to write")
    parser.add_argument("--cluster", choices=CLUSTERS, default="local", help="the one that the suite ran on")
    arguments = parser.parse_args()
    text = page(arguments.junit.read_text(encoding="utf-8"), arguments.cluster, wanted())
    arguments.page.write_text(text, encoding="utf-8")


def page(junit: str, cluster: str = "local", version: Version = NEWEST) -> str:
    """The page as Markdown, from the text of a JUnit file; raises ValueError when that holds no suite."""
    suite = suite_of(junit)
    head = HEAD.format(
        setting="".join(_settings(cluster, version)),
        minor=version.minor,
        cluster=CLUSTERS[cluster],
        rest=RESTS[cluster],
        **figures(suite),
    )
    return f"{head}\n{table(suite)}"


def _settings(cluster: str, version: Version) -> Iterator[str]:
    if cluster != "local":
        yield f" CLUSTER={cluster}"
    if version != NEWEST:
        yield f" {ASKED}={version.minor}"


if __name__ == "__main__":
    main()
