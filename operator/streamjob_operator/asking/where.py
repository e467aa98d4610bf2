"""Where a job is looked up: on a cluster, or in a file. What cannot be read ends the command with a sentence."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import click
from rich.console import Group, RenderableType
from rich.text import Text

from streamjob_operator.asking.decision import Decided, newest
from streamjob_operator.asking.measured import Unanswerable, of_snapshot
from streamjob_operator.asking.show import decision_view
from streamjob_operator.history import HistoryError, newest_first, notes_of
from streamjob_operator.offline.snapshot_file import HISTORY_SUFFIX, SnapshotError, read_moment
from streamjob_operator.ports import Unavailable
from streamjob_operator.speaking import stopped
from streamjob_operator.values import Memory

if TYPE_CHECKING:
    from streamjob_operator.kube.models.scaling import ScalingStatus


class Where(Protocol):
    """A job that can be asked about."""

    def decided(self) -> Decided:
        """Its newest scaling decision, and what that rested on."""

    def explained(self) -> RenderableType:
        """Why it does what it does."""


class InFile:
    """What `streamjob run` has kept: its history, or its newest snapshot, which holds no decision."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def decided(self) -> Decided:
        """See Where."""
        try:
            return self._of_history() if self._path.suffix == HISTORY_SUFFIX else self._of_snapshot()
        except HistoryError as error:
            raise stopped(f"{error}.") from error
        except SnapshotError as error:
            raise stopped(str(error)) from error
        except ValueError as error:  # Unanswerable is one
            raise stopped(f"{self._path}: {error}.") from error

    def explained(self) -> RenderableType:
        """See Where."""
        return decision_view(self.decided())

    def _of_history(self) -> Decided:
        job = notes_of(self._path).job
        name = str(job.get("name", self._path.stem))
        return newest(newest_first(self._path), name, job.get("executors_min"), job.get("executors_max"))

    def _of_snapshot(self) -> Decided:
        moment = read_moment(self._path)
        memory = Memory(marked=moment.marked, remote_reads=moment.remote_reads)
        return Decided(
            name=self._path.stem,
            measured=of_snapshot(moment.snapshot, memory),
            needed=None,
            target=None,
            reason="Measured",
            message="A snapshot holds what was measured, no decision.",
        )


class OnCluster:
    """What the status of a StreamJob says."""

    def __init__(self, name: str, kubeconfig: str | None, context: str | None, namespace: str | None) -> None:
        # Imported here: files need no Kubernetes client.
        from streamjob_operator.kube.kubectl.cli import Session
        from streamjob_operator.kube.report.compose import read_status

        document = Session(kubeconfig, context, namespace).read(name)
        bounds = document.get("spec", {}).get("executors", {})
        self._name, self._status = name, read_status(document)
        self._bounds: tuple[int | None, int | None] = (bounds.get("min"), bounds.get("max"))

    def decided(self) -> Decided:
        """See Where."""
        kept = self._status.scaling
        if kept is None:
            raise click.ClickException(f"{self._name} has no batches yet that can be predicted.")
        try:
            return self._decided(kept)
        except Unanswerable as error:
            raise click.ClickException(f"{self._name}: {error}.") from error

    def _decided(self, kept: ScalingStatus) -> Decided:
        """Raises Unanswerable."""
        from streamjob_operator.kube.report.scaling import measured_of

        return Decided(
            name=self._name,
            measured=measured_of(kept),
            needed=kept.needed,
            target=kept.target,
            reason=kept.reason or "",
            message=kept.message or "",
            least=self._bounds[0],
            most=self._bounds[1],
        )

    def explained(self) -> RenderableType:
        """See Where."""
        from streamjob_operator.kube.kubectl.views import explain_view

        parts = [explain_view(self._name, self._status)]
        if self._status.scaling is not None and self._status.scaling.stages:
            try:
                parts.append(decision_view(self._decided(self._status.scaling)))
            except Unanswerable as error:
                parts.append(Text(f"{error}."))
        return Group(*parts)


def on_cluster(name: str, kubeconfig: str | None, context: str | None, namespace: str | None) -> Where:
    """The StreamJob of that name; what goes wrong on the way is a sentence."""
    from streamjob_operator.kube.api.refusals import Refused

    try:
        return OnCluster(name, kubeconfig, context, namespace)
    except (Unavailable, Refused) as error:
        raise click.ClickException(str(error)) from error
