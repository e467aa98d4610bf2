"""All that the need of executors depends on, made by hand."""

from __future__ import annotations

import numpy as np
from worlds import job

from streamjob_operator.scaling.batch_time.arriving import Arriving
from streamjob_operator.scaling.batch_time.measured import Measured
from streamjob_operator.scaling.batch_time.needs import View
from streamjob_operator.scaling.rule import Fleet
from streamjob_planners.batch.work import Work
from streamjob_planners.forecast.past import Forecast


def hot(part: float, bias: float) -> View:
    """10,000 rows in each 10 s, of 1.9 ms each; one of 64 key groups has a part of them. Twenty executors are there."""
    share = np.full(64, (1.0 - part) / 63)
    share[0] = part
    work = Work(
        level=np.zeros(64, dtype=np.int64),
        task_fixed_s=np.zeros(64),
        task_row_s=share * 1.9e-3,
        spread_ratio=np.zeros(64),
        fixed_s=0.5,
    )
    rate = Forecast(rate_rps=1000.0, spread=0.0)
    return View(
        job=job(("max: 6", "max: 40")),
        fleet=Fleet(ready=20, wanted=20, marked=0),
        measured=Measured(work=work, rows=10_000.0, slots=1, noise_ratio=0.0, bias=bias),
        arriving=Arriving(rate_rps=1000.0, backlog_rows=0.0, waiting_rows=0.0, grows=False, most_rows=None, came=None),
        ahead=rate,
        highest=rate,
        ready_s=60.0,
        trigger_s=10.0,
        read_ago_s=0.0,
        cold_s=0.0,
    )
