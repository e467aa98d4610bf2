"""The folder that this machine and a cluster's nodes share under the same path; the jobs' volumes are below it."""

from __future__ import annotations

from pathlib import Path

VOLUMES = Path("/var/tmp/streamjob-e2e")
