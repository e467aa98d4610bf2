"""Folders of tests that need a program: marked, and left out with one line that says why where it cannot be had."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest


class NeedsProgram:
    """Hooks for the tests below `folder`; its conftest registers one with pytest's plugin manager."""

    def __init__(self, folder: Path, marker: str, find: Callable[[], Path | None], how_to_get: str) -> None:
        self._folder = folder
        self._marker = marker
        self._find = find
        self._how_to_get = how_to_get
        self._left_out = 0

    def pytest_itemcollected(self, item: pytest.Item) -> None:
        """Every test of the folder has the marker."""
        if self._holds(item):
            item.add_marker(self._marker)

    @pytest.hookimpl(trylast=True)  # after -m and -k: what was not asked for is not spoken of
    def pytest_collection_modifyitems(self, config: pytest.Config, items: list[pytest.Item]) -> None:
        """The folder's tests are left out where there is no program."""
        ours = [item for item in items if self._holds(item)]
        if ours and self._find() is None:
            self._left_out = len(ours)
            config.hook.pytest_deselected(items=ours)
            items[:] = [item for item in items if item not in ours]

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """One line for all of them."""
        if self._left_out:
            where = f"{self._folder.parent.name}/{self._folder.name}"
            terminalreporter.write_line(f"SKIPPED [{self._left_out}] {where}: {self._how_to_get}")

    def _holds(self, item: pytest.Item) -> bool:
        return self._folder in item.path.parents
