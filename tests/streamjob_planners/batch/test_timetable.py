import numpy as np
import pytest

from streamjob_planners.batch.predict import predict
from streamjob_planners.batch.shape import BatchShape, FreeStage
from streamjob_planners.batch.timetable import timetable


def test_a_timetable_ends_when_the_batch_does_and_no_slot_runs_two_tasks() -> None:
    rng = np.random.default_rng(1)
    shape = BatchShape(
        level=np.repeat([0, 1, 2], 20),
        task_s=rng.exponential(0.3, 60),
        spread_s=np.zeros(60),
        slots=np.array([1, 2, 4]),
        speed=np.array([1.0, 0.5, 2.0]),
        fixed_s=0.7,
        free_stages=(FreeStage(work_s=3.0),),
    )
    node_of = rng.integers(0, 3, 60)
    table = timetable(shape, node_of)
    assert table.level_start_s[-1] == pytest.approx(predict(shape, node_of).batch_s)
    assert max(run.end_s for run in table.runs) == pytest.approx(table.level_start_s[-1])
    assert sorted(run.group for run in table.runs) == list(range(60))
    for run in table.runs:
        assert (
            table.level_start_s[run.level] - 1e-9
            <= run.start_s
            <= run.end_s
            <= table.level_start_s[run.level + 1] + 1e-9
        )
        beside = [one for one in table.runs if (one.node, one.slot) == (run.node, run.slot) and one is not run]
        assert all(one.end_s <= run.start_s + 1e-9 or run.end_s <= one.start_s + 1e-9 for one in beside)
