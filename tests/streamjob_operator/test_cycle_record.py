"""What a cycle leaves behind says all that reporters tell: none of them predicts the batch anew."""

from __future__ import annotations

import dataclasses

from worlds import even, job, warm

from streamjob_operator.digest import digest


def test_what_binds_a_batch_is_worked_out_once_for_all_reporters() -> None:
    automatic = job()
    record = warm(even(2, 6, 15.0), automatic).turn(automatic)
    assert record.model is not None
    assert record.model.batch is not None
    assert record.binds
    without = digest(dataclasses.replace(record, model=None)).batch
    assert without is not None
    assert without.binds == record.binds
