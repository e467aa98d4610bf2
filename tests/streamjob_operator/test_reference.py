"""docs/reference/ is made from the code; stale pages fail."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from streamjob_operator.kube import names

ROOT = Path(__file__).resolve().parents[2]
SOURCES = {path: path.read_text(encoding="utf-8") for path in (ROOT / "operator").rglob("*.py")}
OURS = re.compile(r"(?:streamjob\.dev|\{(?:names\.)?GROUP\})/([a-z][a-z0-9-]*)")
"""A name of ours on the cluster, as the code writes it."""


def test_every_page_is_fresh() -> None:
    checked = subprocess.run(
        [sys.executable, "docs/reference/make.py", "--check"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert (checked.returncode, checked.stderr) == (0, "")


@pytest.mark.parametrize("reason", names.KubeReason, ids=lambda one: one.value)
def test_every_reason_that_is_documented_is_given(reason: names.KubeReason) -> None:
    used = re.compile(rf"\bKubeReason\.{reason.name}\b")
    assert [path for path, text in SOURCES.items() if path.name != "names.py" and used.search(text)]


def test_every_name_of_ours_on_the_cluster_is_documented() -> None:
    documented = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "docs" / "reference").glob("*.md"))
    written = {f"streamjob.dev/{name}" for text in SOURCES.values() for name in OURS.findall(text)}
    assert {one.value for kind in (names.Annotation, names.Label) for one in kind} <= written
    assert [name for name in sorted(written) if not re.search(rf"{re.escape(name)}\b(?!-)", documented)] == []
