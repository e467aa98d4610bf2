"""Every command of docs/user is run by a case, or has a reason why it cannot be; nothing else is claimed."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))

from e2e.suite import test_9_docs  # noqa: E402 - needs the path above
from e2e.suite.claims import NOT_RUN, claimed  # noqa: E402
from e2e.suite.commands import documented  # noqa: E402
from e2e.suite.shell import replaced  # noqa: E402

RUN = claimed(test_9_docs)


@pytest.mark.parametrize("command", sorted(documented()))
def test_somebody_runs(command: str) -> None:
    assert (command in RUN) != (command in NOT_RUN)


@pytest.mark.parametrize("command", sorted(RUN | set(NOT_RUN)))
def test_it_is_on_a_page(command: str) -> None:
    assert command in documented()


def page(folder: Path, text: str) -> frozenset[str]:
    (folder / "page.md").write_text(text, encoding="utf-8")
    return documented(folder)


def test_lines_of_a_command_are_one_command(tmp_path: Path) -> None:
    assert page(tmp_path, "Do:\n\n    helm install a \\\n      --set b=1\n    kubectl get c\n\nDone.\n") == {
        "helm install a --set b=1",
        "kubectl get c",
    }


def test_a_command_in_a_sentence_counts_across_lines_and_in_lists_and_tables(tmp_path: Path) -> None:
    text = "Ask `kubectl get\nsj`.\n\n- `helm test a` says\n\n| when | `streamjob top` |\n"
    assert page(tmp_path, f"{text}\n1. Do\n\n       kubectl get x\n") == {
        "kubectl get sj",
        "helm test a",
        "streamjob top",
        "kubectl get x",
    }


def test_names_of_programs_other_code_and_beginnings_of_commands_do_not_count(tmp_path: Path) -> None:
    text = "`kubectl` and `spec.suspend` and `helm test`.\n\n    kind: Pod\n    helm test a -n b\n"
    assert page(tmp_path, text) == {"helm test a -n b"}


def test_only_whole_words_are_replaced() -> None:
    assert replaced("kubectl logs NAME-driver NAMES my.NAME", {"NAME": "a"}) == "kubectl logs a-driver NAMES my.NAME"
