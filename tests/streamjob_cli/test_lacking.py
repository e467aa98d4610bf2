"""Commands without what an extra of the package brings."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from streamjob_cli.main import ON_CLUSTER

BRINGS = "kubernetes is missing; `pip install 'streamjob[operator]'` brings it."
HELP, OPERATOR = ("--help",), ("operator",)
ON_A_CLUSTER = (("top", "-A"), ("top", "--help"), ("pause", "a"), ("kube", "top"), ("explain", "a"))
CODE = """
import json, sys
sys.modules.update(dict.fromkeys(("kubernetes", "kopf")))
from click.testing import CliRunner
from streamjob_cli.main import main
done = [CliRunner().invoke(main, words, terminal_width=200) for words in json.loads(sys.argv[1])]
print(json.dumps([[one.exit_code, one.output] for one in done]))
"""
Outcomes = dict[tuple[str, ...], tuple[int, str]]


@pytest.fixture(scope="module")
def outcomes() -> Outcomes:
    """Exit code and output of each command where `streamjob[controller]` is installed alone.

    In a process of its own: modules that are loaded anew are others than those that later tests hold.
    """
    asked = (HELP, OPERATOR, *ON_A_CLUSTER)
    done = subprocess.run([sys.executable, "-c", CODE, json.dumps(asked)], capture_output=True, text=True, check=True)
    return {words: tuple(one) for words, one in zip(asked, json.loads(done.stdout), strict=True)}


def test_help_is_shown_all_the_same(outcomes: Outcomes) -> None:
    """It ended in a traceback: the short help of each command was read from its module."""
    code, output = outcomes[HELP]
    assert (code, "validate" in output, output.count(BRINGS)) == (0, True, len(ON_CLUSTER))
    here, on_a_cluster = output.split("Commands on a cluster:")
    assert "  validate " in here
    assert on_a_cluster.count(BRINGS) == len(ON_CLUSTER)


@pytest.mark.parametrize("words", ON_A_CLUSTER)
def test_a_command_on_a_cluster_says_what_it_lacks(words: tuple[str, ...], outcomes: Outcomes) -> None:
    code, output = outcomes[words]
    assert (code, BRINGS in output) == (2, True), output


def test_the_operator_says_what_it_lacks(outcomes: Outcomes) -> None:
    code, output = outcomes[OPERATOR]
    assert (code, "is missing; `pip install 'streamjob[operator]'` brings it." in output) == (2, True)
