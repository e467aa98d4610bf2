"""Commands without what an extra of the package brings."""

from __future__ import annotations

import sys

import pytest
from click.testing import CliRunner

from streamjob_cli.main import ON_CLUSTER, main

BRINGS = "kubernetes is missing; `pip install 'streamjob[operator]'` brings it."
LACKING = ("kubernetes", "kopf")


@pytest.fixture
def no_cluster(monkeypatch: pytest.MonkeyPatch) -> None:
    """As where `streamjob[controller]` is installed alone."""
    for name in [one for one in sys.modules if one.startswith("streamjob_operator.kube") and ".crd" not in one]:
        monkeypatch.delitem(sys.modules, name)
    for name in LACKING:
        monkeypatch.setitem(sys.modules, name, None)


@pytest.mark.usefixtures("no_cluster")
def test_help_is_shown_all_the_same() -> None:
    """It ended in a traceback: the short help of each command was read from its module."""
    done = CliRunner().invoke(main, ["--help"], terminal_width=200)
    assert (done.exit_code, "validate" in done.output, done.output.count(BRINGS)) == (0, True, len(ON_CLUSTER))


@pytest.mark.usefixtures("no_cluster")
@pytest.mark.parametrize("words", [["top", "-A"], ["top", "--help"], ["pause", "a"], ["kube", "top"], ["explain", "a"]])
def test_a_command_on_a_cluster_says_what_it_lacks(words: list[str]) -> None:
    done = CliRunner().invoke(main, words)
    assert (done.exit_code, BRINGS in done.output) == (2, True), done.output


@pytest.mark.usefixtures("no_cluster")
def test_the_operator_says_what_it_lacks() -> None:
    done = CliRunner().invoke(main, ["operator"])
    assert (done.exit_code, "is missing; `pip install 'streamjob[operator]'` brings it." in done.output) == (2, True)
