"""Where Prometheus keeps one driver's series, and when it scraped them."""

from __future__ import annotations

import dataclasses
import itertools
import json
import math
import re
import statistics
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from streamjob_agent import metric_names as names
from streamjob_operator.kube.metrics.http import Connection
from streamjob_operator.kube.names import KubeReason
from streamjob_operator.ports import Incomplete, Stale, Unavailable
from streamjob_operator.spec.quantities import format_duration
from streamjob_operator.unsteered import one_line

MISSED_SCRAPES = 3
"""This many scrapes in a row must be missing before a target counts as lost."""
FIRST_GAP_S = 60.0
"""Time between scrapes that is assumed while only one is known."""
_OF_THE_AGENT = ("__name__", "agent_version", "spark_version", "application")
_UP, _SIZE = "up", "scrape_samples_scraped"
_SHOWN = 5
LONGEST_NAME = 253
"""Characters of a name that somebody's Prometheus gives, as sentences repeat it."""
NAMESPACE = "namespace"
"""Label that a PodMonitor, or ordinary relabelling, gives a target; without it nobody can tell."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """One scraped agent, by the labels that all its series carry."""

    application_id: str
    labels: Mapping[str, str]

    @property
    def name(self) -> str:
        """How a person knows it."""
        return one_line(self.labels.get("pod") or self.labels.get("instance") or "?")[:LONGEST_NAME]

    def selector(self, *matchers: str) -> str:
        """Its labels and further matchers as a selector."""
        return "{" + ",".join((*matchers, *(f"{key}={quoted(value)}" for key, value in self.labels.items()))) + "}"


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """One scrape of one query: when, of which run, and how many batches had ended."""

    at_s: float
    identity: tuple[str, str, str]
    batches: float


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Scrapes:
    """All scrapes of one query within the horizon, oldest first, and the size of the newest page in samples."""

    marks: tuple[Mark, ...]
    samples: int | None

    def since(self, at_s: float) -> int:
        """How many there were from then on."""
        return sum(mark.at_s >= at_s for mark in self.marks)


def quoted(text: str) -> str:
    """A string of PromQL."""
    return json.dumps(text, ensure_ascii=False)


def any_of(words: Iterable[str]) -> str:
    """A matcher for series of these names."""
    return f"__name__=~{quoted('|'.join(words))}"


def find_target(connection: Connection, application_id: str, horizon_s: float, namespace: str) -> Target:
    """The target that told of this application last; raises Unavailable (TargetMissing) when there is none.

    A target in another namespace is not asked: any pod that is scraped could say that it is this application.
    """
    ours = f"{NAMESPACE}=~{quoted(re.escape(namespace) + '|')}"
    found = connection.query(f"{names.AGENT_INFO}{{application={quoted(application_id)},{ours}}}[{horizon_s:.0f}s]")
    if not found:
        raise _nobody(connection, application_id, horizon_s, ours)
    newest = max(found, key=lambda one: (float(one["values"][-1][0]), sorted(one["metric"].items())))
    return Target(
        application_id=application_id,
        labels={key: value for key, value in sorted(newest["metric"].items()) if key not in _OF_THE_AGENT},
    )


def _nobody(connection: Connection, application_id: str, horizon_s: float, ours: str) -> Unavailable:
    others = connection.query(f"count by (application) ({names.AGENT_INFO}{{{ours}}})")
    known = sorted(one_line(one["metric"].get("application", "?"))[:LONGEST_NAME] for one in others)
    also = f"it knows {', '.join(known[:_SHOWN])}{' ...' if len(known) > _SHOWN else ''}" if known else "nor any other"
    return Unavailable(
        f"Prometheus at {connection.settings.url} has had no {names.AGENT_INFO} of application {application_id} for "
        f"{format_duration(round(horizon_s))} ({also}): it does not scrape the agent's port.",
        code=KubeReason.TARGET_MISSING,
    )


def check_fresh(target: Target, scraped_at_s: Sequence[float], now_s: float, up: float | None) -> None:
    """Raises Stale (TargetMissing) when scrapes have been missing. Times are by Prometheus's clock."""
    last_s = scraped_at_s[-1]
    gaps = [after - before for before, after in itertools.pairwise(scraped_at_s)]
    gap_s = statistics.median(gaps) if gaps else FIRST_GAP_S
    if now_s - last_s <= (MISSED_SCRAPES + 1) * gap_s:
        return
    why = "its scrapes fail" if up == 0.0 else "it is no target of Prometheus any more, or another driver is"
    raise Stale(
        f"Prometheus has not scraped the agent at {target.name} for {format_duration(round(now_s - last_s, 1))}, "
        f"before that every {format_duration(round(gap_s, 1))}: {why}.",
        code=KubeReason.TARGET_MISSING,
    )


def find_scrapes(connection: Connection, target: Target, query_id: str, now_s: float, horizon_s: float) -> Scrapes:
    """When the query was scraped; raises Stale when that was too long ago, Incomplete when series are missing.

    Raises Unavailable (TargetMissing) where the target has not told of the application.
    """
    wanted = (names.AGENT_INFO, names.QUERY_BATCHES, names.QUERY_INFO, _UP, _SIZE)
    selector = target.selector(any_of(wanted), f"query=~{quoted(query_id + '|')}")
    found = connection.query(f"{selector}[{horizon_s:.0f}s]")
    scraped_at_s = _told_at_s(found, target.application_id)
    if not scraped_at_s:
        raise Unavailable(
            f"The agent at {target.name} does not tell Prometheus of application {target.application_id}.",
            code=KubeReason.TARGET_MISSING,
        )
    check_fresh(target, scraped_at_s, now_s, _newest(found, _UP))
    runs = {at: one["metric"].get("run", "") for one in _named(found, names.QUERY_INFO) for at, _ in one["values"]}
    own = set(scraped_at_s)
    samples = [(float(at), float(value)) for one in _named(found, names.QUERY_BATCHES) for at, value in one["values"]]
    marks = [
        Mark(at_s=at, identity=(target.application_id, query_id, runs[at]), batches=batches)
        for at, batches in sorted(samples)
        if at in own and at in runs
    ]
    if not marks:
        missing = [name for name in (names.QUERY_BATCHES, names.QUERY_INFO) if not _named(found, name)]
        raise Incomplete(
            f"Prometheus scrapes the agent at {target.name}, but has no {' and no '.join(missing) or 'common sample'} "
            f"of query {query_id}.",
            code=KubeReason.SERIES_MISSING,
        )
    size = _newest(found, _SIZE)
    return Scrapes(marks=tuple(marks), samples=None if size is None or not math.isfinite(size) else int(size))


def _told_at_s(found: list[dict[str, Any]], application_id: str) -> list[float]:
    """When it was scraped and told of the application, oldest first."""
    own = (one for one in _named(found, names.AGENT_INFO) if one["metric"].get("application") == application_id)
    return sorted({float(at) for one in own for at, _ in one["values"]})


def _named(found: list[dict[str, Any]], name: str) -> list[dict[str, Any]]:
    return [one for one in found if one["metric"].get("__name__") == name]


def _newest(found: list[dict[str, Any]], name: str) -> float | None:
    last = [one["values"][-1] for one in _named(found, name)]
    return float(max(last)[1]) if last else None
