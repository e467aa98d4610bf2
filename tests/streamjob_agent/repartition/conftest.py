"""Lets the tests of this folder import their files and their Spark by name."""

from __future__ import annotations

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent))
