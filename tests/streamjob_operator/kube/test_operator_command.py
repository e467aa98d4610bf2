"""Options of `streamjob operator`."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from streamjob_cli.main import main


def operator(folder: Path, *options: str, **environment: str) -> Result:
    """It ends without a way to an API server, where its options are right."""
    words = ["operator", f"--kubeconfig={folder / 'none'}", *options]
    return CliRunner().invoke(main, words, env=environment)


@pytest.mark.parametrize("namespace", ["a,b", "", "A", "a/b"])
def test_a_namespace_that_there_cannot_be_is_refused(namespace: str, tmp_path: Path) -> None:
    """The API server tells of it as of one without jobs, so that nothing was looked after, without a word."""
    done = operator(tmp_path, "--namespace", namespace)
    assert done.exit_code == 2
    assert f"{namespace!r} given; a namespace's name is needed" in " ".join(done.output.split())


def test_several_namespaces_stand_in_the_environment_with_spaces_between(tmp_path: Path) -> None:
    assert "'a,b' given" in operator(tmp_path, STREAMJOB_NAMESPACES="a,b").output
    assert "there is no such kubeconfig" in operator(tmp_path, STREAMJOB_NAMESPACES="a b").output
