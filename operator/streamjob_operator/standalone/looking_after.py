"""The loop of a run with all its adapters: what `streamjob run` does once the driver has been started."""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import os
import threading
from collections.abc import Callable
from pathlib import Path

from rich.console import Console

from streamjob_operator.agent_http.client import AgentClient
from streamjob_operator.agent_http.metrics import AgentMetrics
from streamjob_operator.history import HistoryFile
from streamjob_operator.measure.limits import limits_within
from streamjob_operator.measure.room import Room
from streamjob_operator.memory import FileMemory
from streamjob_operator.offline.snapshot_file import SnapshotFile
from streamjob_operator.planning_pool import PlanningPool
from streamjob_operator.ports import Ports, Rules
from streamjob_operator.spec import StreamJob
from streamjob_operator.standalone.agent_actuator import AgentActuator
from streamjob_operator.standalone.job_file import JobFile
from streamjob_operator.standalone.key_groups import Wanted
from streamjob_operator.standalone.on_disk import OnDisk
from streamjob_operator.standalone.runner import Runner
from streamjob_operator.standalone.unmeasured import seen_at
from streamjob_operator.view import LiveView

MEMORY, SNAPSHOT = "memory.json", "snapshot.json"


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class LookingAfter:
    """What is looked after: the job and the file that says what it is, where its agent is, where results go.

    `rules` gives the scaling rule of a name; `wanted` is told what there is of key groups, and what a person edits;
    `memory_bytes` is what this process may use, None where nobody has said.
    """

    job: StreamJob
    path: Path
    out: Path
    history: Path
    history_bytes: int | None
    address: Callable[[], str]
    console: Console
    tell: Callable[[str], None]
    rules: Rules
    wanted: Wanted
    memory_bytes: int | None = None

    def run(self, watch: Callable[[], bool], stop: threading.Event, duration_s: float | None) -> None:
        """Until `watch` says that the job is over, `stop` is set, or the time has passed."""
        job, view = self.job, LiveView(self.job, self.console)
        client = AgentClient(self.address, token=os.environ.get("STREAMJOB_AGENT_TOKEN"))
        limits = limits_within(self.memory_bytes)
        room = Room(limits.kept_bytes, limits.share_of)
        with contextlib.ExitStack() as stack:
            stack.callback(view.close)
            metrics = stack.enter_context(
                AgentMetrics(client, job.spec.balancing.statistics_period_s, together=True, room=room, limits=limits)
            )
            planning = stack.enter_context(PlanningPool())
            ports = Ports(
                metrics=metrics,
                actuator=AgentActuator(client),
                memory=FileMemory(self.out / MEMORY, self.tell),
                reporters=(
                    OnDisk(HistoryFile(self.history, job, self.history_bytes), self.history, self.tell),
                    OnDisk(SnapshotFile(self.out / SNAPSHOT), self.out / SNAPSHOT, self.tell),
                    view,
                    self.wanted,
                ),
                planning=planning,
                rules=self.rules,
                look=functools.partial(seen_at, client),
            )
            file = JobFile(self.path, job, self.tell)
            Runner(
                ports=ports,
                job=job,
                watch=watch,
                tell=self.tell,
                look=lambda: dataclasses.replace(metrics.seen, spec=file.edits),
                follow=lambda: self._edited(file),
                note=lambda: metrics.note,
                duration_s=duration_s,
                stop=stop,
            ).run()

    def _edited(self, file: JobFile) -> StreamJob:
        self.wanted.job = file.newest()
        return self.wanted.job
