"""A job on two nodes that are a wire apart: right to the row, and what Spark calls remote has crossed the wire."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2]))
pytest.importorskip("pyspark.sql.streaming.stateful_processor", reason="Spark 4.0 and newer have it")

from benchmarks.nodes.fleet import fleet
from benchmarks.nodes.network import HUB, node
from benchmarks.nodes.runs import VANILLA, Case, run

TOOLS = ("ip", "tc", "nsenter", "setpriv")
LACKING = [name for name in TOOLS if shutil.which(name) is None]

pytestmark = [
    pytest.mark.spark,
    pytest.mark.skipif(os.geteuid() != 0, reason="network namespaces need root"),
    pytest.mark.skipif(bool(LACKING), reason=f"needs {', '.join(LACKING)}"),
]


def test_remote_bytes_cross_the_wire_and_nothing_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SPARK_CONF_DIR")  # who has registered is told by the master's lines of INFO
    # Not `pairs`: Spark itself puts a task where most of its input is, and nothing at all would be remote.
    case = Case(job="half", batches=3, key_groups=4, payload_bytes=64 * 1024)
    with fleet(2, 1, 200.0, tmp_path) as spark:
        ran = run(spark, case, VANILLA, tmp_path / "run")
        assert all(Path(f"/run/netns/{one.namespace}").exists() for one in (HUB, *spark.sites))
    assert not ran.differences
    remote_bytes = sum(one.remote_bytes for one in ran.batches)
    crossed_bytes = ran.wire[-1][1] - ran.wire[0][1]
    assert remote_bytes > case.payload_bytes
    assert crossed_bytes > remote_bytes
    assert not any(Path(f"/run/netns/{one.namespace}").exists() for one in (HUB, node(1), node(2)))
