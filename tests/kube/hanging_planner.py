"""A planning process that never answers for plans with one certain deadline: HANG_AT, seconds."""

from __future__ import annotations

import os
import sys
import time

from streamjob_operator import planning_worker
from streamjob_planners.model import Plan

ANSWER = planning_worker._answer


def hang(task: planning_worker.Task) -> Plan | str:
    if task[3].deadline_s == float(os.environ["HANG_AT"]):
        time.sleep(3600.0)
    return ANSWER(task)


if __name__ == "__main__":
    planning_worker._answer = hang
    planning_worker.main(int(sys.argv[1]))
