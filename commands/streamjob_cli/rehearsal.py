"""Everything an operator loads, loaded once, a plan by each planner, a wish of each rule: for the build of its image.

`python -m streamjob_cli.rehearsal SNAPSHOT` fails where the image lacks a module that the operator needs, or has a
shared object that does not load. It leaves bytecode of exactly what is used where PYTHONPYCACHEPREFIX says: in a
read-only container it could not be kept, and each start would spend seconds of CPU on it.
"""

from __future__ import annotations

import ctypes
import importlib
import pkgutil
import sys
import time
from pathlib import Path

import streamjob_operator.kube as operator
import streamjob_planners as planners
from streamjob_operator.offline.proposal import default_job, propose, with_balancing, with_rule
from streamjob_operator.offline.snapshot_file import Moment, read_moment
from streamjob_operator.scaling import registry as rules
from streamjob_operator.spec import StreamJob
from streamjob_planners import registry
from streamjob_planners.warm import warm_up

DEADLINE_S = 1.0
"""Time for each plan."""
LOADED = ("streamjob_cli.main", "streamjob_operator.planning_worker")
LEFT_OUT = ("streamjob_planners.building",)
"""Needs numba, which an image may do without."""


def rehearse(path: Path) -> tuple[str, ...]:
    """Names of the planners that planned on the snapshot of that file.

    Raises ImportError for what is missing, SnapshotError or ValueError for a snapshot that cannot be planned on, and
    RuntimeError for a plan that the judge objects to.
    """
    for package in (operator, planners):
        for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            if module.name not in LEFT_OUT:
                importlib.import_module(module.name)
    for name in LOADED:
        importlib.import_module(name)
    warm_up()
    moment, job = read_moment(path), with_balancing(default_job(), plan_deadline_s=DEADLINE_S)
    for name in registry.names():
        _plan(moment, with_balancing(job, planner=name))
    for rule in rules.names():
        _plan(moment, with_rule(with_balancing(job, planner="hold"), rule))
    return registry.names()


def open_all(folder: Path) -> int:
    """Load every shared object below a folder; how many. Raises OSError for one that does not load."""
    found = sorted(file for file in folder.rglob("*.so*") if file.is_file())
    for file in found:
        ctypes.CDLL(str(file))
    return len(found)


def _plan(moment: Moment, job: StreamJob) -> None:
    # By the process's own time: the machine that builds may be busy.
    violations = propose(moment, job, seed=0, clock=time.process_time).violations
    if violations:
        raise RuntimeError(f"{job.spec.balancing.planner}: {violations[0].sentence}")


if __name__ == "__main__":
    rehearse(Path(sys.argv[1]))
    open_all(Path(sys.prefix))
