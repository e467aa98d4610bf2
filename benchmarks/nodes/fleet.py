"""Spark's own standalone cluster on nodes of ours: the master in the hub, a worker in each node."""

from __future__ import annotations

import contextlib
import dataclasses
import pathlib
import sys
from collections.abc import Iterator

import pyspark
from benchmarks.nodes.network import HUB, Site, network
from e2e.cluster.process import Process

SPARK_HOME = pathlib.Path(pyspark.__file__).parent
PORT = 7077
EXECUTOR_MB = 768
START_S = 120.0
# Young JVMs on few cores: what they compile has to pay within seconds.
CALM = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Fleet:
    """A cluster that runs: its nodes, executors on each, and a folder of its own."""

    sites: tuple[Site, ...]
    executors_per_node: int
    folder: pathlib.Path

    @property
    def executors(self) -> int:
        return len(self.sites) * self.executors_per_node

    def settings(self) -> dict[str, str]:
        """What makes a driver in the hub use all of it: an executor of one slot has one core."""
        return {
            "spark.master": f"spark://{HUB.address}:{PORT}",
            "spark.driver.host": HUB.address,
            "spark.driver.bindAddress": HUB.address,
            "spark.executor.cores": "1",
            "spark.executor.memory": f"{EXECUTOR_MB}m",
            "spark.cores.max": str(self.executors),
            "spark.scheduler.minRegisteredResourcesRatio": "1.0",
            "spark.scheduler.maxRegisteredResourcesWaitingTime": f"{START_S:g}s",
            "spark.driver.extraJavaOptions": CALM,
            "spark.executor.extraJavaOptions": CALM,
        }


@contextlib.contextmanager
def fleet(nodes: int, executors_per_node: int, mbit_s: float, folder: pathlib.Path) -> Iterator[Fleet]:
    """A cluster whose nodes are `mbit_s` apart; it ends with the block. Raises Unusable and DidNotStart."""
    with network(nodes, mbit_s) as sites, contextlib.ExitStack() as stack:
        master = _daemon(HUB, "master", folder, "org.apache.spark.deploy.master.Master", "--port", str(PORT))
        stack.callback(master.stop)
        master.start()
        workers = []
        for one in sites:
            room = ("--cores", str(executors_per_node), "--memory", f"{executors_per_node * EXECUTOR_MB}m")
            where = ("--work-dir", str(folder / one.namespace), f"spark://{HUB.address}:{PORT}")
            worker = _daemon(one, one.namespace, folder, "org.apache.spark.deploy.worker.Worker", *room, *where)
            stack.callback(worker.stop)
            worker.start()
            workers.append(worker)
        master.wait_until(lambda: _registered(master) == len(sites), START_S)
        yield Fleet(sites=sites, executors_per_node=executors_per_node, folder=folder)


def _registered(master: Process) -> int:
    """Workers that the master's log tells of."""
    text = master.log.read_text(encoding="utf-8", errors="replace") if master.log.exists() else ""
    return text.count("Registering worker")


def _daemon(site: Site, name: str, folder: pathlib.Path, main_class: str, *words: str) -> Process:
    command = [str(SPARK_HOME / "bin" / "spark-class"), main_class, "--host", site.address, "--webui-port", "0", *words]
    env = {
        "SPARK_HOME": str(SPARK_HOME),
        "SPARK_LOCAL_IP": site.address,
        "SPARK_LOCAL_DIRS": str(folder / f"{name}-local"),
        "SPARK_DAEMON_MEMORY": "256m",
        "SPARK_DAEMON_JAVA_OPTS": CALM,
        "PYSPARK_PYTHON": sys.executable,
    }
    return Process(name, [*site.enter, *command], folder / f"{name}.log", env)
