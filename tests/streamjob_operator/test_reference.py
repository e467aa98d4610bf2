"""docs/reference/ is made from the code; stale pages fail."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def test_every_page_is_fresh() -> None:
    checked = subprocess.run(
        [sys.executable, "docs/reference/make.py", "--check"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert (checked.returncode, checked.stderr) == (0, "")
