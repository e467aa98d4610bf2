"""What `streamjob repartition` refuses before it starts a Spark."""

from __future__ import annotations

import pytest
from click.testing import CliRunner

from streamjob_agent.repartition.journal import Stage
from streamjob_cli.main import main
from streamjob_cli.repartition import FOUND


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--key-groups", "8", "--undo"], "Give one of --key-groups, --undo and --clean at most"),
        (["--undo", "--clean"], "Give one of --key-groups, --undo and --clean at most"),
        (["--dry-run"], "--dry-run goes with the first"),
        (["--key-groups", "0"], "0 is not in the range x>=1"),
        (["--key-groups", "many"], "'many' is not a valid integer"),
        (["--conf", "spark.ui.enabled"], "'spark.ui.enabled' given; NAME=VALUE is needed"),
    ],
)
def test_what_makes_no_sense_is_refused(arguments: list[str], said: str) -> None:
    result = CliRunner().invoke(main, ["repartition", "/nowhere", *arguments])
    assert result.exit_code == 2
    assert said in " ".join(result.output.split())


def test_every_stage_has_a_sentence_that_says_what_to_do() -> None:
    assert set(FOUND) == set(Stage)
