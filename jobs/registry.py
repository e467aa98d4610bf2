"""All jobs by name."""

from __future__ import annotations

from jobs.job import Job
from jobs.nexmark import catalogue as nexmark

JOBS: tuple[Job, ...] = (*nexmark.JOBS,)


def find(name: str) -> Job:
    """The job of that name; ValueError names those that are there."""
    for job in JOBS:
        if job.name == name:
            return job
    raise ValueError(f"job: {name!r} given; known are {', '.join(job.name for job in JOBS)}.")
