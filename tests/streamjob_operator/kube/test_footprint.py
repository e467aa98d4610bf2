"""What the operator's own process loads: solvers and compiled loops are for the processes that plan."""

from __future__ import annotations

import subprocess
import sys

_NOT_NEEDED = ("ortools", "pandas", "numba", "scipy.stats", "scipy.optimize", "matplotlib")
"""Together some 170 MiB."""


def test_the_operators_process_loads_no_solver() -> None:
    code = (
        "import sys, streamjob_operator.kube.process.main\n"
        f"print(*(one for one in {_NOT_NEEDED!r} if one in sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []
