"""The demo's modules are scripts beside each other, not a package: they are found through the path."""

from __future__ import annotations

import pathlib
import sys

FOLDER = pathlib.Path(__file__).parents[2] / "samples" / "demo"
sys.path.insert(0, str(FOLDER))
