"""All jobs by name."""

from __future__ import annotations

from jobs import ysb
from jobs.albic import edits, flights
from jobs.daily import ads, clicks, fraud
from jobs.job import Job
from jobs.nexmark import catalogue as nexmark
from jobs.papers import bargains, linear_road, packets, words

JOBS: tuple[Job, ...] = (
    *edits.JOBS,
    *flights.JOBS,
    *words.JOBS,
    *packets.JOBS,
    *linear_road.JOBS,
    *bargains.JOBS,
    *clicks.JOBS,
    *ads.JOBS,
    *fraud.JOBS,
    *nexmark.JOBS,
    *ysb.JOBS,
)


def find(name: str) -> Job:
    """The job of that name; ValueError names those that are there."""
    for job in JOBS:
        if job.name == name:
            return job
    raise ValueError(f"job: {name!r} given; known are {', '.join(job.name for job in JOBS)}.")
