"""The operator's process: health pages, the lease, then kopf's watches and the turns of all StreamJobs."""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
import logging
import os
import random
import socket
import threading
import time
import uuid
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any, cast

import kopf

from streamjob_operator.kube.api.access import configuration, own_namespace
from streamjob_operator.kube.api.client import KubeApi
from streamjob_operator.kube.api.kinds import STREAM_JOBS, Kind
from streamjob_operator.kube.api.refusals import Refused
from streamjob_operator.kube.api.retry import Retry
from streamjob_operator.kube.api.served import wait_until_served
from streamjob_operator.kube.driver.monitoring import Monitor, Monitoring
from streamjob_operator.kube.job.drivers import KubeDrivers
from streamjob_operator.kube.job.keeper import Keeper
from streamjob_operator.kube.job.quotas import Quotas
from streamjob_operator.kube.job.tools import Tools
from streamjob_operator.kube.metrics.sources import Shared
from streamjob_operator.kube.process.collector import settle
from streamjob_operator.kube.process.fair_pool import Threads
from streamjob_operator.kube.process.handlers import Changes, make_registry, make_settings
from streamjob_operator.kube.process.health import HealthServer
from streamjob_operator.kube.process.jobs import Jobs
from streamjob_operator.kube.process.leader import Election, Terms, keep_lease, wait_for_lease
from streamjob_operator.kube.process.logs import start_logging
from streamjob_operator.kube.process.telemetry import Telemetry
from streamjob_operator.kube.report.events import Events
from streamjob_operator.kube.watched.api import WatchedApi
from streamjob_operator.kube.watched.relist import RELIST_S, fill, make_stores, relist
from streamjob_operator.kube.watched.store import Store
from streamjob_operator.planning_pool import PlanningPool
from streamjob_operator.ports import Unavailable
from streamjob_operator.signals import stop_on_signals
from streamjob_planners.advice.sentences import amount

LOG = logging.getLogger(__name__)
LOST_THE_LEASE = 3
"""Exit code of an operator that is not the leader any more."""
STUCK_S = 30.0
LOOKS = 8
"""Turns without a cycle at the same time: each takes milliseconds, and waits for the API server if for anything."""
FIRST_TURN_S, LONGEST_START_S = 0.03, 60.0
"""A start looks at some 30 StreamJobs a second, each of which takes several requests then, and at all in a minute."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """How to run. Without `namespaces` the whole cluster is looked after.

    `workers` cycles run at the same time, and `planners` processes plan for them. `memory_bytes` is what all of it may
    use, None where nobody has said. `executor_quotas` are executors that all jobs of a namespace share, by its name or
    quotas.ANY. `driver_monitor` and its labels say how Prometheus scrapes drivers.
    """

    kubeconfig: str | None = None
    namespaces: tuple[str, ...] = ()
    lease_namespace: str | None = None
    lease_name: str = "streamjob-operator"
    listen: str = "0.0.0.0"
    port: int = 8080
    workers: int = 16
    planners: int = 2
    memory_bytes: int | None = None
    log_level: str = "info"
    log_json: bool = True
    executor_quotas: tuple[tuple[str, int], ...] = ()
    driver_monitor: str = Monitor.POD_MONITOR.value
    monitor_labels: tuple[tuple[str, str], ...] = ()
    terms: Terms = dataclasses.field(default_factory=Terms)


@dataclasses.dataclass(slots=True)
class Life:
    """What the health pages know. `waits_for` is a sentence about what must be there before anything else."""

    waits_for: str | None = "The API server has not answered yet."
    leads: bool = False
    watches: bool = False
    beat_s: float = 0.0

    def alive(self) -> str | None:
        """What is wrong; None when all is well."""
        late_s = time.monotonic() - self.beat_s
        return f"The event loop has been stuck for {late_s:.0f} s." if self.leads and late_s > STUCK_S else None

    def ready(self) -> str | None:
        """A waiting operator is ready, too: it would take over."""
        if self.waits_for is not None:
            return self.waits_for
        return "The watches are not open yet." if self.leads and not self.watches else None


def run_operator(options: Options) -> int:
    """Run until SIGTERM or SIGINT (0), or until the lease is lost. Raises Unavailable when no API server is known."""
    start_logging(options.log_level, as_json=options.log_json)
    telemetry, life = Telemetry(), Life()
    connection = configuration(options.kubeconfig)
    stores = make_stores()
    api = WatchedApi(connection, stores, called=telemetry.api_called)
    identity = f"{socket.gethostname()}_{uuid.uuid4().hex[:8]}"
    namespace = options.lease_namespace or own_namespace()
    election = Election(_lease_api(options, telemetry), namespace, options.lease_name, identity, options.terms)
    pages = HealthServer(options.listen, options.port, alive=life.alive, ready=life.ready, registry=telemetry.registry)
    with pages, stop_on_signals() as stop:
        LOG.info("Started.", extra={"identity": identity, "port": pages.port})
        if not (_find_kinds(api, stop, life) and _become_leader(election, stop, life)):
            return 0
        asyncio.run(_lead(options, Cluster(api=api, stores=stores, over=stop.wait), telemetry, election, life))
    with contextlib.suppress(Unavailable, Refused):
        election.release()
    LOG.info("Ended.")
    return 0


def _lease_api(options: Options, telemetry: Telemetry) -> KubeApi:
    """No patience: what waits for the others' calls may be slow, a lease that is renewed too late is lost."""
    once = Retry(attempts=1)
    connection = configuration(options.kubeconfig)
    return KubeApi(connection, retry=once, called=telemetry.api_called, timeout_s=options.terms.request_s)


def _find_kinds(api: KubeApi, stop: threading.Event, life: Life) -> bool:
    def tell(sentence: str) -> None:
        life.waits_for = sentence
        LOG.warning(sentence)

    if not wait_until_served(api, stop.wait, tell):
        return False
    life.waits_for = None
    return True


def _become_leader(election: Election, stop: threading.Event, life: Life) -> bool:
    def tell(sentence: str) -> None:
        LOG.info(sentence)

    def refused(sentence: str | None) -> None:
        life.waits_for = None if sentence is None else f"The Lease is refused: {sentence}"

    if not wait_for_lease(election, stop.wait, tell, refused):
        return False
    life.leads, life.beat_s = True, time.monotonic()
    LOG.info("This operator leads.")
    return True


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Cluster:
    """The API server, what its watches have told, and who says that everything ends."""

    api: WatchedApi
    stores: Mapping[Kind, Store]
    over: Callable[[float], bool]


async def _lead(options: Options, cluster: Cluster, telemetry: Telemetry, election: Election, life: Life) -> None:
    """Watch and turn until kopf is told to end by a signal."""
    over = threading.Event()
    lease = threading.Thread(target=_hold_or_die, args=(election, over), name="lease", daemon=True)
    lease.start()
    known = cluster.stores[STREAM_JOBS]
    with (
        PlanningPool(options.planners, shared=lambda: known.namespaces() > 1) as planning,
        ThreadPoolExecutor(LOOKS, thread_name_prefix="look") as looks,
        ThreadPoolExecutor(options.workers, thread_name_prefix="cycle") as cycles,
    ):
        telemetry.watch_planning(lambda: planning.kills)
        tools = _tools(options, cluster.api, telemetry, planning, known)
        jobs = Jobs(
            lambda namespace, name: Keeper(tools, namespace, name, lambda: jobs.asked(namespace, name)),
            Threads(executor=looks, size=LOOKS),
            Threads(executor=cycles, size=options.workers),
            lambda: first_wait_s(len(known)),
        )
        heart = asyncio.create_task(_beat(life))
        filled = await asyncio.to_thread(
            fill, cluster.api, cluster.stores, options.namespaces, cluster.over, LOG.warning
        )
        settle()
        changes = Changes(jobs, cluster.stores)
        relisting = asyncio.create_task(_relist(cluster, options.namespaces, changes))
        watching = asyncio.Event()
        watch = asyncio.create_task(_note_watching(watching, life))
        try:
            if not filled or cluster.over(0.0):
                return
            await kopf.operator(
                registry=make_registry(changes, configuration(options.kubeconfig)),
                settings=make_settings(),
                identity=cast(Any, election.identity),  # kopf's own needs a name for our user, which an image may lack
                standalone=True,
                clusterwide=not options.namespaces,
                namespaces=options.namespaces,
                ready_flag=watching,
            )
        finally:
            await jobs.stop()
            for task in (heart, watch, relisting):
                task.cancel()
            over.set()
            lease.join()  # so that it is not renewed any more when it is released


def _tools(options: Options, api: KubeApi, telemetry: Telemetry, planning: PlanningPool, stream_jobs: Store) -> Tools:
    events, quotas = Events(api), Quotas(dict(options.executor_quotas), stream_jobs)
    telemetry.watch_quotas(quotas.held)

    def forget(namespace: str, name: str) -> None:
        telemetry.forget(namespace, name)
        quotas.forget(namespace)

    monitoring = Monitoring(monitor=Monitor(options.driver_monitor), labels=options.monitor_labels)
    return Tools(
        api=api,
        drivers=KubeDrivers(api, events, monitoring),
        events=events,
        reporters=lambda namespace, job: (telemetry.reporter(namespace, job),),
        forget=forget,
        planning=planning.of,
        shared=_shared(options.memory_bytes),
        quotas=quotas,
    )


def _shared(memory_bytes: int | None) -> Shared:
    shared = Shared(memory_bytes)
    limits = shared.limits
    LOG.info(
        f"Agents' pages of all jobs are kept within {amount(limits.kept_bytes)}{limits.share_of}; one that is read may "
        f"have {amount(limits.page_bytes)}, an answer of a Prometheus {amount(limits.answer_bytes)}."
    )
    return shared


def _hold_or_die(election: Election, over: threading.Event) -> None:
    """Turns may be under way in many threads when the lease is lost: the only sure way to end them is the process's."""
    kept = False
    try:
        kept = keep_lease(election, over.wait)
    except Exception:
        LOG.exception("The lease cannot be renewed.")
    if not kept:
        LOG.error("The lease was lost; ending at once.")
        os._exit(LOST_THE_LEASE)


def first_wait_s(jobs: int) -> float:
    """How long one of so many jobs waits for its first turn: by chance, so that they come one after another."""
    return random.random() * min(LONGEST_START_S, jobs * FIRST_TURN_S)


async def _relist(cluster: Cluster, namespaces: tuple[str, ...], changes: Changes) -> None:
    while True:
        await asyncio.sleep(RELIST_S)
        try:
            await asyncio.to_thread(relist, cluster.api, cluster.stores, namespaces, LOG.warning)
        except (Unavailable, Refused) as error:
            LOG.warning("What there is could not be listed anew: %s", error)
        else:
            changes.settle()


async def _beat(life: Life) -> None:
    while True:
        life.beat_s = time.monotonic()
        await asyncio.sleep(1.0)


async def _note_watching(flag: asyncio.Event, life: Life) -> None:
    await flag.wait()
    life.watches = True
