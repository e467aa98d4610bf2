"""`kubectl streamjob ...`, also `streamjob kube ...`: what a person asks of StreamJobs on a cluster."""

from __future__ import annotations

import contextlib
import functools
import re
import secrets
import time
from collections.abc import Callable, Sequence
from typing import Any

import click
from rich.console import RenderableType
from rich.live import Live

from streamjob_operator import key_groups
from streamjob_operator.asking.command import explain, what_if
from streamjob_operator.counting import executors, moves_told
from streamjob_operator.kube.api.access import default_namespace
from streamjob_operator.kube.api.client import KubeApi, Object
from streamjob_operator.kube.api.kinds import STREAM_JOBS
from streamjob_operator.kube.api.refusals import Refused
from streamjob_operator.kube.api.retry import Retry
from streamjob_operator.kube.api.times import rfc3339, seconds
from streamjob_operator.kube.kubectl.savings_view import saved, savings_view
from streamjob_operator.kube.kubectl.views import history_view, plan_view, top_view
from streamjob_operator.kube.models.key_groups import KeyGroupsStatus
from streamjob_operator.kube.models.status import ApprovablePlan, Status
from streamjob_operator.kube.names import Annotation
from streamjob_operator.kube.partition_map.memory import read_memory
from streamjob_operator.kube.report.compose import read_status
from streamjob_operator.memory import UnreadableMemory
from streamjob_operator.options import finite
from streamjob_operator.ports import Unavailable
from streamjob_operator.speaking import Speaking
from streamjob_operator.spec.key_groups import APPROVED
from streamjob_operator.terminal import console
from streamjob_operator.values import PendingPlan

MANAGER = "kubectl-streamjob"
"""Owner of the annotations that a person sets by these commands."""
NO_DEFINITIONS = (
    f"The API server serves no {STREAM_JOBS.plural} of {STREAM_JOBS.api_version}: StreamJob's CRDs are missing. "
    "`helm install` as in docs/user/install.md brings them; "
    "without the chart `streamjob crds` writes them, and `kubectl apply --server-side -f crds` installs them."
)
EVERY_S = 2.0
_MONTH = re.compile(r"[0-9]{4}-(0[1-9]|1[0-2])")


class Session:
    """One command's way to the cluster; what goes wrong there ends it with a sentence."""

    def __init__(self, kubeconfig: str | None, context: str | None, namespace: str | None) -> None:
        self.api = KubeApi.from_kubeconfig(kubeconfig, context=context, retry=Retry(attempts=3), manager=MANAGER)
        self.namespace = namespace or default_namespace(kubeconfig, context)

    def read(self, name: str) -> Object:
        """The StreamJob."""
        found = self.api.get(STREAM_JOBS, name, self.namespace)
        if found is None:
            self._look_for_definitions()
            raise click.ClickException(f"There is no StreamJob {name} in namespace {self.namespace}.")
        return found

    def jobs(self, all_namespaces: bool) -> list[tuple[str, str, Status]]:
        """Namespace, name and status of each StreamJob, in that order."""
        found = self.api.list(STREAM_JOBS, None if all_namespaces else self.namespace)
        if not found:
            self._look_for_definitions()
        jobs = [(one["metadata"]["namespace"], one["metadata"]["name"], read_status(one)) for one in found]
        return sorted(jobs, key=lambda job: job[:2])

    def _look_for_definitions(self) -> None:
        """A cluster that knows no StreamJobs answers as one that has none."""
        if STREAM_JOBS.plural not in self.api.resources(STREAM_JOBS):
            raise click.ClickException(NO_DEFINITIONS)

    def annotate(self, name: str, what: Annotation, value: str | None) -> None:
        """Set an annotation, or take it off."""
        self.read(name)
        patch = {"metadata": {"annotations": {what.value: value}}}
        self.api.merge_patch(STREAM_JOBS, name, self.namespace, patch)


Body = Callable[..., None]


def on_cluster(body: Body) -> Body:
    """Give the command the options of kubectl and a Session in their place."""

    @click.option("--kubeconfig", type=click.Path(dir_okay=False), help="Default: $KUBECONFIG, else ~/.kube/config.")
    @click.option("--context", help="Context of the kubeconfig. Default: its current one.")
    @click.option("--namespace", "-n", help="Default: that of the context.")
    @functools.wraps(body)
    def command(kubeconfig: str | None, context: str | None, namespace: str | None, **given: Any) -> None:
        try:
            body(Session(kubeconfig, context, namespace), **given)
        except (Unavailable, Refused) as error:
            raise click.ClickException(str(error)) from error

    return command


def _month(_: click.Context, __: click.Parameter, value: str | None) -> str | None:
    if value is not None and not _MONTH.fullmatch(value):
        raise click.BadParameter(f"'{value}' given; a month such as 2026-01 is needed")
    return value


@click.group(cls=Speaking)
@click.version_option(package_name="streamjob")
def main() -> None:
    """See what StreamJob does with the streaming jobs of a cluster, and steer it."""


@main.command()
@click.argument("name")
@on_cluster
def plan(session: Session, name: str) -> None:
    """Show the newest plan, its moves while it waits for approval, what came of it, and what else may be approved."""
    status = read_status(session.read(name))
    console().print(plan_view(name, status, pending_of(status)))


@main.command()
@click.argument("name")
@click.argument("plan_hash", metavar="[HASH]", required=False)
@on_cluster
def approve(session: Session, name: str, plan_hash: str | None) -> None:
    """Approve the plan that waits, or the one with HASH that was shown of late. Exactly it is carried out, or nothing;
    the job's lastCycle then says why.

    key-groups-N in place of HASH approves as many key groups as are proposed.
    """
    status = read_status(session.read(name))
    if plan_hash is not None and plan_hash.startswith(APPROVED):
        _approve_key_groups(session, name, plan_hash, status.key_groups)
        return
    found = called(status.approvable, name, plan_hash, time.time())
    session.annotate(name, Annotation.APPROVE, found.hash)
    click.echo(f"Plan {found.hash} of {name} is approved: {executors(found.executors)}, {moves_told(found.moves)}.")


def _approve_key_groups(session: Session, name: str, token: str, groups: KeyGroupsStatus | None) -> None:
    proposed = None if groups is None else groups.proposed
    if proposed is None or token != key_groups.approval(proposed):
        now = "none are" if proposed is None else f"{key_groups.approval(proposed)} is"
        raise click.ClickException(f"{token} is not what is proposed for {name}; {now}.")
    session.annotate(name, Annotation.APPROVE, token)
    click.echo(f"{proposed} key groups of {name} are approved; its query stops for their change.")


@main.command()
@click.argument("name")
@on_cluster
def pause(session: Session, name: str) -> None:
    """Leave the job as it is until it is resumed; it is measured on."""
    session.annotate(name, Annotation.PAUSE, "true")
    click.echo(f"{name} is paused.")


@main.command()
@click.argument("name")
@on_cluster
def resume(session: Session, name: str) -> None:
    """Take a pause back."""
    session.annotate(name, Annotation.PAUSE, None)
    click.echo(f"{name} goes on.")


@main.command()
@click.argument("name")
@on_cluster
def stop(session: Session, name: str) -> None:
    """End the moves and drains that run, at the next batch boundary. The next cycle plans anew, unless it is paused."""
    session.annotate(name, Annotation.STOP, token())
    click.echo(f"The running plan of {name} is stopped; `pause` keeps the next one from being made.")


@main.command()
@click.argument("name")
@on_cluster
def refresh(session: Session, name: str) -> None:
    """Run a cycle now."""
    session.annotate(name, Annotation.REFRESH, token())
    click.echo(f"{name} is looked at now.")


@main.command()
@click.argument("name")
@on_cluster
def history(session: Session, name: str) -> None:
    """Show the newest decisions."""
    console().print(history_view(name, read_status(session.read(name)).history))


@main.command()
@click.option("--all-namespaces", "-A", is_flag=True, help="Jobs of every namespace.")
@click.option("--watch", "-w", is_flag=True, help="Until Ctrl-C.")
@on_cluster
def top(session: Session, all_namespaces: bool, watch: bool) -> None:
    """Show all jobs, one line each."""

    def view() -> RenderableType:
        jobs = session.jobs(all_namespaces)
        where = "any namespace" if all_namespaces else f"namespace {session.namespace}"
        return top_view(jobs) if jobs else f"There is no StreamJob in {where}."

    if not watch:
        console().print(view())
        return
    with contextlib.suppress(KeyboardInterrupt):  # as it was asked for
        _watch(view)


def _watch(view: Callable[[], RenderableType]) -> None:
    """Until Ctrl-C: one view in the place of another on a terminal, one below another elsewhere."""
    out = console()
    if not out.is_terminal:
        while True:
            out.print(view())
            time.sleep(EVERY_S)
    with Live(view(), console=out, auto_refresh=False) as live:
        while True:
            time.sleep(EVERY_S)
            live.update(view(), refresh=True)


@main.command()
@click.option("--all-namespaces", "-A", is_flag=True, help="Jobs of every namespace.")
@click.option(
    "--month", metavar="YYYY-MM", callback=_month, help="One month. Default: all that are kept, three at most."
)
@click.option(
    "--price", type=click.FloatRange(min=0), callback=finite, help="Of one executor for an hour, in any currency."
)
@on_cluster
def savings(session: Session, all_namespaces: bool, month: str | None, price: float | None) -> None:
    """Show what scaling has saved: executor-hours beside those of a fleet that always has the most."""
    counted = saved(session.jobs(all_namespaces), month)
    if not counted:
        raise click.ClickException("No executor-hours were counted of that time.")
    console().print(savings_view(counted, price))


def called(plans: Sequence[ApprovablePlan], name: str, plan_hash: str | None, now_s: float) -> ApprovablePlan:
    """The plan that is meant: the one with that hash, without one the newest. Raises ClickException with what may be
    approved."""
    open_now = [one for one in plans if one.until is None or seconds(one.until) > now_s]
    newest = next((one for one in open_now if one.until is None), None)
    if plan_hash is None and newest is not None:
        return newest
    found = next((one for one in open_now if one.hash == plan_hash), None)
    if found is not None:
        return found
    if not open_now:
        raise click.ClickException(f"No plan of {name} waits for approval.")
    told = ", ".join(one.hash for one in open_now)
    what = f"Plan {plan_hash} cannot be approved" if plan_hash is not None else "No plan waits now"
    raise click.ClickException(f"{what}; what can be: {told}.")


def pending_of(status: Status) -> PendingPlan | None:
    """The plan that waits for approval."""
    try:
        return read_memory(status.memory).pending
    except UnreadableMemory as error:
        raise click.ClickException(f"This version cannot read what the operator remembers: {error}.") from error


def token() -> str:
    """A value that was not there before, however soon after another one; the time is for whoever reads it."""
    return f"{rfc3339(time.time())}-{secrets.token_hex(4)}"


main.add_command(explain)
main.add_command(what_if)

if __name__ == "__main__":
    main()
