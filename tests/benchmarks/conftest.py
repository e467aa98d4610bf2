"""Benchmarks are in no wheel: their folders are the repository's root and, for scripts that Spark starts, their own.

This folder, too: tests share what they put down on paper.
"""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
sys.path += [str(ROOT), str(ROOT / "benchmarks" / "spark"), str(Path(__file__).parent)]
