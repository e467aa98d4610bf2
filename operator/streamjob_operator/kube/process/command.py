"""`streamjob operator`: start the operator."""

from __future__ import annotations

import re
from typing import Any

import click

from streamjob_operator.installed import brought_by
from streamjob_operator.spec.job import NAME_PATTERN

MOST_QUOTA = 1_000_000
_NAMESPACE = re.compile(NAME_PATTERN)


def _labels(_context: click.Context, option: click.Parameter, given: tuple[str, ...]) -> tuple[tuple[str, str], ...]:
    pairs = tuple(one.partition("=") for one in given)
    wrong = [name for name, equals, _ in pairs if not (name and equals)]
    if wrong:
        raise click.BadParameter(f"{wrong[0]!r} given; NAME=VALUE is needed.", param=option)
    return tuple((name, value) for name, _, value in pairs)


def _quotas(_context: click.Context, option: click.Parameter, given: tuple[str, ...]) -> tuple[tuple[str, int], ...]:
    found: dict[str, int] = {}
    for one in given:
        namespace, _, number = one.partition("=")
        if not namespace or not (number.isascii() and number.isdigit()) or not 1 <= int(number) <= MOST_QUOTA:
            needed = f"NAMESPACE=EXECUTORS is needed, with 1 to {MOST_QUOTA:,} executors"
            raise click.BadParameter(f"{one!r} given; {needed}.", param=option)
        if namespace in found:
            raise click.BadParameter(f"{one!r} given; {namespace} has {found[namespace]} already.", param=option)
        found[namespace] = int(number)
    return tuple(found.items())


def _namespaces(_context: click.Context, option: click.Parameter, given: tuple[str, ...]) -> tuple[str, ...]:
    """The API server tells of a namespace that there cannot be as of one without jobs."""
    for one in given:
        if not _NAMESPACE.fullmatch(one):
            needed = "a namespace's name is needed, and in the environment spaces between several"
            raise click.BadParameter(f"{one!r} given; {needed}.", param=option)
    return given


@click.command("operator")
@click.option("--kubeconfig", envvar="STREAMJOB_KUBECONFIG", help="Default: $KUBECONFIG, else the pod's own account.")
@click.option(
    "--namespace",
    "-n",
    "namespaces",
    multiple=True,
    envvar="STREAMJOB_NAMESPACES",
    callback=_namespaces,
    help="Namespace to look after, may be given several times. Default: all.",
)
@click.option("--lease-namespace", envvar="STREAMJOB_LEASE_NAMESPACE", help="Default: the pod's own namespace.")
@click.option("--lease-name", envvar="STREAMJOB_LEASE_NAME", default="streamjob-operator", show_default=True)
@click.option(
    "--listen",
    envvar="STREAMJOB_LISTEN",
    default="0.0.0.0",
    show_default=True,
    help="Of the health pages; 0.0.0.0 is every interface, by IPv4 and IPv6.",
)
@click.option("--port", envvar="STREAMJOB_PORT", default=8080, show_default=True, type=click.IntRange(0, 65535))
@click.option(
    "--workers",
    envvar="STREAMJOB_WORKERS",
    default=16,
    show_default=True,
    type=click.IntRange(1, 512),
    help="Cycles at the same time, of several namespaces at most half of one; looks have threads of their own.",
)
@click.option(
    "--planners",
    envvar="STREAMJOB_PLANNERS",
    default=2,
    show_default=True,
    type=click.IntRange(1, 64),
    help="Processes that plan; one that overruns is ended and replaced.",
)
@click.option(
    "--memory-bytes",
    envvar="STREAMJOB_MEMORY_BYTES",
    type=click.IntRange(min=1),
    help="Memory that this process and its planners may use, which bounds what is read and kept of measurements. More "
    "than 2 GiB (the default) changes nothing; the chart gives resources.limits.memory.",
)
@click.option(
    "--executor-quota",
    "executor_quotas",
    multiple=True,
    envvar="STREAMJOB_EXECUTOR_QUOTAS",
    callback=_quotas,
    metavar="NAMESPACE=EXECUTORS",
    help="Most executors that all jobs of a namespace may have together, * for each other namespace; may be given "
    "several times. Jobs share them by scaling.priority, and evenly among equals. Default: no bound.",
)
@click.option(
    "--log-level",
    envvar="STREAMJOB_LOG_LEVEL",
    default="info",
    show_default=True,
    type=click.Choice(["debug", "info", "warning", "error"]),
)
@click.option("--log-format", envvar="STREAMJOB_LOG_FORMAT", default="json", type=click.Choice(["json", "text"]))
@click.option(
    "--driver-monitor",
    envvar="STREAMJOB_DRIVER_MONITOR",
    default="PodMonitor",
    show_default=True,
    type=click.Choice(["PodMonitor", "ServiceMonitor", "Annotations", "Off"]),
    help="How Prometheus comes to scrape drivers.",
)
@click.option(
    "--monitor-label",
    "monitor_labels",
    multiple=True,
    envvar="STREAMJOB_MONITOR_LABELS",
    callback=_labels,
    metavar="NAME=VALUE",
    help="Label of the drivers' monitors, by which a Prometheus finds them; may be given several times.",
)
@click.option(
    "--self-check",
    is_flag=True,
    help="Say whether CRDs, rights and a leading operator are there, and end: 0 when all is well.",
)
def operator_command(log_format: str, self_check: bool, **options: Any) -> None:
    """Look after the StreamJobs of a cluster.

    Every option but --self-check can be given as STREAMJOB_<OPTION> in the environment, in the plural where it may be
    given several times: STREAMJOB_NAMESPACES="team-a team-b".
    """
    # Imported here: the other commands need no Kubernetes.
    with brought_by("operator"):
        from streamjob_operator.kube.process.main import Options, run_operator
        from streamjob_operator.kube.process.self_check import default_where, run_self_check
    from streamjob_operator.ports import Unavailable

    try:
        if self_check:
            where = default_where(options["namespaces"], options["lease_namespace"], options["lease_name"])
            raise SystemExit(run_self_check(options["kubeconfig"], where, click.echo))
        raise SystemExit(run_operator(Options(**options, log_json=log_format == "json")))
    except Unavailable as error:
        raise click.ClickException(str(error)) from error
