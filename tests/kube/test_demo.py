"""The whole path, real but for the pods: `make demo-operator` with its claims."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from e2e.cluster.prometheus import HOW_TO_GET, get

ROOT = Path(__file__).parents[2]
DEMO_S = 1350.0
"""The demo bounds each of its waits; three to four minutes on a machine with nothing else to do."""
CLAIMS = 7


@pytest.mark.demo
@pytest.mark.spark
@pytest.mark.prometheus
@pytest.mark.timeout(1400)
def test_a_skewed_pyspark_job_is_balanced_scaled_out_and_in_by_the_operator() -> None:
    if get() is None:
        pytest.skip(HOW_TO_GET)
    command = [sys.executable, str(ROOT / "samples" / "operator-demo" / "demo.py")]
    environ = {**os.environ, "SPARK_LOCAL_IP": "127.0.0.1", "COLUMNS": "240"}
    done = subprocess.run(command, cwd=ROOT, env=environ, capture_output=True, text=True, timeout=DEMO_S, check=False)
    print(done.stdout, done.stderr)  # shown by pytest when the test fails
    assert done.returncode == 0
    assert done.stdout.count("✓") == CLAIMS
    assert "✗" not in done.stdout
