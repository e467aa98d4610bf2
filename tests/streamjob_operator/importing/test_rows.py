"""Every field of the definitions has exactly one row, and no row speaks of a field that is not there."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from streamjob_operator.importing import apache, kubeflow
from streamjob_operator.importing.draft import Way

DATA = Path(__file__).parents[2] / "data" / "sparkapplications"


@pytest.mark.parametrize(
    ("name", "ways"), [("v1beta2-fields.txt", kubeflow.WAYS), ("apache-v1-fields.txt", apache.WAYS)]
)
def test_every_field_has_one_row(name: str, ways: tuple[Way, ...]) -> None:
    lines = (DATA / name).read_text(encoding="utf-8").splitlines()
    rows = Counter(path for way in ways for path in way.fields)
    assert rows == Counter(line for line in lines if not line.startswith("#"))
