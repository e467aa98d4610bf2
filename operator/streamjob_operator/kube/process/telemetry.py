"""The operator's own Prometheus page: what each job's cycles did, and how long they took. Names: telemetry_names.py."""

from __future__ import annotations

import dataclasses
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Mapping

from prometheus_client import CollectorRegistry, Histogram, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily, Metric
from prometheus_client.registry import Collector

from streamjob_operator.digest import digest
from streamjob_operator.kube.process import telemetry_names as names
from streamjob_operator.kube.process.telemetry_errors import Errors
from streamjob_operator.kube.process.telemetry_figures import Figures, Key, Labels, added, replaced
from streamjob_operator.kube.process.telemetry_names import Family
from streamjob_operator.spec import StreamJob
from streamjob_operator.values import CycleRecord

BUCKETS_S = (0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0)


@dataclasses.dataclass(slots=True)
class JobSeries:
    """One job's series since the operator began: totals grow, `now` is replaced by each cycle.

    The budget used is that of the newest accepted plan, so it stays until there is another.
    """

    totals: dict[Key, float] = dataclasses.field(default_factory=dict)
    now: dict[Key, float] = dataclasses.field(default_factory=dict)
    errors: Errors = dataclasses.field(default_factory=Errors)

    def take(self, grown: Figures, newest: Figures) -> None:
        """Take one cycle in."""
        for key, value in grown.items():
            self.totals[key] = self.totals.get(key, 0.0) + value
        kept = {key: value for key, value in self.now.items() if key[0] is names.BUDGET_USED}
        self.now = {**kept, **newest}


class Telemetry(Collector):
    """All jobs' series; safe for several threads. `registry` takes further collectors of the operator's process."""

    def __init__(self) -> None:
        self._jobs: dict[Labels, JobSeries] = {}
        self._api_requests: Counter[Labels] = Counter()
        self._kills: Callable[[], int] = int
        self._quotas: Callable[[], Mapping[str, tuple[int, int]]] = dict
        self._lock = threading.Lock()
        self.registry = CollectorRegistry(auto_describe=False)
        self.registry.register(self)
        family = names.CYCLE_SECONDS
        self._cycle_s = Histogram(family.name, family.help, buckets=BUCKETS_S, registry=self.registry)

    def reporter(self, namespace: str, job: StreamJob) -> JobTelemetry:
        """The reporter for a job as it is now."""
        return JobTelemetry(self, namespace, job)

    def forget(self, namespace: str, name: str) -> None:
        """Take a deleted job's series off the page."""
        with self._lock:
            self._jobs.pop((namespace, name), None)

    def api_called(self, verb: str, resource: str, status: int) -> None:
        """Count a request to the API server; status 0 is no answer."""
        with self._lock:
            self._api_requests[(verb, resource, str(status))] += 1

    def watch_planning(self, kills: Callable[[], int]) -> None:
        """Show how many planning processes were ended, as `kills` says it."""
        self._kills = kills

    def watch_quotas(self, held: Callable[[], Mapping[str, tuple[int, int]]]) -> None:
        """Show what each namespace may have and holds, as `held` says it."""
        self._quotas = held

    def page(self) -> bytes:
        """The page in Prometheus text format."""
        return generate_latest(self.registry)

    def take(self, namespace: str, job: StreamJob, record: CycleRecord) -> None:
        """Take one cycle in."""
        figures = digest(record)
        grown, newest = added(record, figures), replaced(record, figures)
        with self._lock:
            series = self._jobs.setdefault((namespace, job.metadata.name), JobSeries())
            series.take(grown, newest)
            series.errors.take(record.batch_times)
        self._cycle_s.observe(sum(record.step_seconds.values()))

    def collect(self) -> Iterator[Metric]:
        """Every family but that of cycles' lengths, with no sample where nothing is known."""
        off = HistogramMetricFamily(names.SINGLE_ERRORS.name, names.SINGLE_ERRORS.help, labels=names.JOB_LABELS)
        with self._lock:
            jobs = {job: {**series.totals, **series.now} for job, series in self._jobs.items()}
            for job, series in sorted(self._jobs.items()):
                series.errors.add_to(off, job)
            api_requests = dict(self._api_requests)
        rows: dict[Family, dict[Labels, float]] = {one: {} for one in names.FAMILIES if one.kind != "histogram"}
        rows[names.JOBS][()] = len(jobs)
        rows[names.PLANNER_KILLS][()] = self._kills()
        rows[names.API_REQUESTS].update(api_requests)
        for namespace, (most, held) in self._quotas().items():
            rows[names.QUOTA][namespace,], rows[names.QUOTA_HELD][namespace,] = most, held
        for job, figures in sorted(jobs.items()):
            for (family, labels), value in figures.items():
                rows[family][(*job, *labels)] = value
        for family, values in rows.items():
            yield _metric(family, values)
        yield off


@dataclasses.dataclass(frozen=True, slots=True)
class JobTelemetry:
    """Reporter of one job."""

    telemetry: Telemetry
    namespace: str
    job: StreamJob

    def report(self, record: CycleRecord) -> None:
        """Take one cycle in."""
        self.telemetry.take(self.namespace, self.job, record)


def _metric(family: Family, values: Mapping[Labels, float]) -> Metric:
    kind = CounterMetricFamily if family.kind == "counter" else GaugeMetricFamily
    metric = kind(family.name, family.help, labels=family.labels)
    for labels, value in values.items():
        metric.add_metric(labels, value)
    return metric
