"""What is asked of the change, before any file is looked at."""

from __future__ import annotations

import contextlib
import types

import pytest

from streamjob_agent.repartition import asking
from streamjob_agent.repartition.hadoop import HadoopFiles
from streamjob_agent.repartition.values import Refused


@pytest.fixture
def checkpoint(monkeypatch: pytest.MonkeyPatch) -> asking.Tell:
    """Asks about a checkpoint, which is qualified already, a Spark that is not there."""
    monkeypatch.setattr(HadoopFiles, "__init__", lambda *_: None)
    monkeypatch.setattr(HadoopFiles, "qualified", lambda _, path: path)
    return lambda path: asking._change(types.SimpleNamespace(), path, print, contextlib.nullcontext)


@pytest.mark.parametrize("whole", ["s3a://bucket/", "hdfs://name:8020/", "/"])
def test_a_checkpoint_that_has_a_whole_store_has_no_room_beside_it(checkpoint: asking.Tell, whole: str) -> None:
    """`s3a://bucket.repartition` would be a bucket of somebody else's."""
    with pytest.raises(Refused, match=f"{whole} given; a folder is needed"):
        checkpoint(whole)


def test_a_folder_of_a_store_has(checkpoint: asking.Tell) -> None:
    checkpoint("s3a://bucket/counts/")
