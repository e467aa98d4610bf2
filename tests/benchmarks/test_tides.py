"""Runs of section 6.2 that are the same are one piece, whoever asks for them."""

from __future__ import annotations

import pytest
from benchmarks.figures import cor_policies


def test_what_table_62_says_anyway_makes_no_other_run(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[object, dict[str, object]]] = []
    monkeypatch.setattr(cor_policies, "once", lambda *args, **setting: asked.append((args, setting)))
    cor_policies.repeated(1, "COR-GLB", None, load=0.9)
    cor_policies.repeated(1, "COR-GLB", None, load=0.9, n_nodes=20, duration_s=240, period_s=10.0)
    cor_policies.repeated(1, "COR-GLB", None, load=0.9, n_nodes=5)
    first, same, other = asked
    assert first == same != other
    assert other[1] == {"load": 0.9, "n_nodes": 5}
