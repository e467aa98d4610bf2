"""Everything an operator loads, loaded once, and one plan by each planner: for the build of its image.

`python -m streamjob_cli.rehearsal SNAPSHOT` fails where the image lacks a module that the operator needs. It
leaves bytecode and compiled loops of exactly what is used where PYTHONPYCACHEPREFIX and NUMBA_CACHE_DIR say: in a
read-only container neither could be kept, and each start would spend seconds of CPU on them.
"""

from __future__ import annotations

import importlib
import pkgutil
import sys
from pathlib import Path

import streamjob_operator.kube as operator
from streamjob_operator.offline.proposal import default_job, propose, with_balancing
from streamjob_operator.offline.snapshot_file import read_moment
from streamjob_planners import registry
from streamjob_planners.warm import warm_up

DEADLINE_S = 1.0
"""Time for each plan."""
LOADED = ("streamjob_cli.main", "streamjob_operator.planning_worker")


def rehearse(path: Path) -> tuple[str, ...]:
    """Names of the planners that planned on the snapshot of that file.

    Raises ImportError for what is missing, SnapshotError or ValueError for a snapshot that cannot be planned on, and
    RuntimeError for a plan that the judge objects to.
    """
    for module in pkgutil.walk_packages(operator.__path__, f"{operator.__name__}."):
        importlib.import_module(module.name)
    for name in LOADED:
        importlib.import_module(name)
    warm_up()
    moment = read_moment(path)
    for name in registry.names():
        job = with_balancing(default_job(), planner=name, plan_deadline_s=DEADLINE_S)
        violations = propose(moment, job, seed=0).violations
        if violations:
            raise RuntimeError(f"{name}: {violations[0].sentence}")
    return registry.names()


if __name__ == "__main__":
    rehearse(Path(sys.argv[1]))
