"""Who runs which command of docs/user: cases say so by `documents`; those that cannot be run here have a reason."""

from __future__ import annotations

import re
from collections.abc import Callable
from types import ModuleType

from e2e.suite.shell import Shell

Case = Callable[..., None]
_MARK = "documented"

NOT_RUN = {
    "docker build --target operator -t registry.example/streamjob-operator:0.1.0 .": (
        "needs a Docker engine; e2e/cluster/images.py builds the same target of the same file by buildah"
    ),
    "docker build --target agent --build-arg BASE_IMAGE=registry.example/your-spark:1 "
    "-t registry.example/your-spark-streamjob:1 .": "as above, and every driver of the suite runs on that image",
    "streamjob repartition CHECKPOINT --key-groups 64 --dry-run": (
        "needs a driver's image, Spark 4.2 and a checkpoint; tests/integration/repartition runs it and those below"
    ),
    "streamjob repartition CHECKPOINT --clean": "as above",
    "streamjob repartition CHECKPOINT --undo": "as above",
    "make cluster": "starts the cluster on which the suite itself runs",
    "make demo": "needs no cluster and takes five minutes; it checks its own claims",
    "pip install '.[operator]'": "the suite's own environment holds that extra of this tree",
    "python3 -m streamjob_agent run /app/job.py ARGUMENTS": "the driver's command in adopted.yaml, which is adopted",
}

A_PLAN = r"Plan \w+: |NAME has no plan yet\."
ON_A_JOB = {
    "kubectl get streamjobs --all-namespaces": r"READY +PHASE +EXECUTORS +BATCH +MOVES +WHY +AGE\s[\s\S]*NAME",
    "kubectl describe streamjob NAME": "Conditions:",
    "kubectl events --for streamjob/NAME": "StreamJob/NAME",
    "kubectl describe pod NAME-driver": "NAME-driver",
    "kubectl streamjob top --all-namespaces": "NAME",
    "kubectl streamjob explain NAME": "NAME",
    "kubectl streamjob plan NAME": A_PLAN,
    "streamjob kube plan NAME": A_PLAN,
    "kubectl streamjob pause NAME": "NAME is paused.",
    "kubectl streamjob resume NAME": "NAME goes on.",
    "streamjob pause NAME": "NAME is paused.",
    "kubectl streamjob stop NAME": "NAME is stopped",
}
"""Commands about a job that has been looked after for a while, and what they print, as regular expressions."""
AFTERWARDS = "kubectl streamjob resume NAME"


def on_a_job(shell: Shell) -> None:
    """Run them, and leave the job as it was."""
    for command, said in ON_A_JOB.items():
        printed = shell(command)
        assert re.search(said.replace("NAME", shell.words["NAME"]), printed), f"{command}: {printed}"
    shell(AFTERWARDS)


def documents(*commands: str) -> Callable[[Case], Case]:
    """A case that runs these commands of the pages; the fixture `shell` fails it when it did not."""

    def mark(case: Case) -> Case:
        setattr(case, _MARK, commands)
        return case

    return mark


def documented_by(case: object) -> tuple[str, ...]:
    """Commands that a case says it runs."""
    found: tuple[str, ...] = getattr(case, _MARK, ())
    return found


def claimed(*modules: ModuleType) -> frozenset[str]:
    """Every command that a case of these modules runs."""
    return frozenset(one for module in modules for case in vars(module).values() for one in documented_by(case))
