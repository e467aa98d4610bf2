"""Benchmarks are in no wheel: their folders are the repository's root and, for scripts that Spark starts, their own."""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
sys.path += [str(ROOT), str(ROOT / "benchmarks" / "spark")]
