"""Rows of the table of faults (`make faults`) that every run of the tests has: a crash, and two operators at once."""

from __future__ import annotations

import sys
import uuid
from pathlib import Path

import pytest
from e2e.cluster import prometheus as program
from e2e.cluster.controlplane import ControlPlane
from e2e.faults.__main__ import Place, main, outcome_of
from e2e.faults.cases import CASES

CONVERGE_S = 240.0
"""A minute on a machine that does nothing else; tests run beside others."""
ROWS = ("operator killed after actuate", "two operators at once")


@pytest.mark.prometheus
@pytest.mark.parametrize("name", ROWS)
def test_it_converges_and_nothing_is_doubled_or_lost(name: str, control_plane: ControlPlane, tmp_path: Path) -> None:
    found = program.get()
    if found is None:
        pytest.skip(program.HOW_TO_GET)
    (case,) = (one for one in CASES if one.name == name)
    place = Place(folder=tmp_path, plane=control_plane, prometheus=found, converge_s=CONVERGE_S)
    outcome = outcome_of(case, f"fault-{uuid.uuid4().hex[:8]}", place)
    assert outcome.converged_s is not None, outcome.note
    assert (outcome.doubled, outcome.lost) == ((), ())
    assert outcome.removed == 2
    assert outcome.generations >= 2


def test_a_name_that_no_fault_has_is_refused(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """None of none would have ended well."""
    monkeypatch.setattr(sys, "argv", ["faults", "operator is asleep"])
    with pytest.raises(SystemExit, match="2"):
        main()
    assert "no fault's name has 'operator is asleep' in it" in capsys.readouterr().err
