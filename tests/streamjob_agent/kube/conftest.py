"""Lets the tests of this folder import their fake API and the fake bridge by name, under pytest's importlib mode."""

from __future__ import annotations

import pathlib
import sys

HERE = pathlib.Path(__file__).parent
for folder in (HERE, HERE.parent):
    if str(folder) not in sys.path:
        sys.path.insert(0, str(folder))
