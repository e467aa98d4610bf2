"""A disk that takes no more is told of, and changes nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest
from worlds import even, job

from streamjob_operator.standalone.on_disk import OnDisk
from streamjob_operator.values import CycleRecord

FULL = OSError(28, "No space left on device")


class Disk:
    """Takes what it is given unless there is trouble."""

    def __init__(self) -> None:
        self.trouble: OSError | None = None

    def report(self, _: CycleRecord) -> None:
        if self.trouble is not None:
            raise self.trouble


def test_trouble_is_told_once_and_again_when_it_comes_back() -> None:
    said, disk, record = list[str](), Disk(), even(2, 2, 20.0).turn(job())
    kept = OnDisk(disk, Path("out/history.jsonl"), said.append)
    for trouble in (None, FULL, FULL, PermissionError(13, "Permission denied", "out/history.jsonl"), None, FULL):
        disk.trouble = trouble
        if trouble is None:
            kept.report(record)
        else:
            with pytest.raises(OSError, match=trouble.strerror):
                kept.report(record)
    full = "What cycles saw and did is not kept: out/history.jsonl: No space left on device. The job goes on."
    assert said == [full, full.replace("No space left on device", "Permission denied"), full]
