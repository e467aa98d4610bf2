"""A server of S3's interface on loopback, behind a link of a delay and a rate; what Spark needs to use it.

The server is moto's, in an environment of its own (`make object-store`); it keeps everything in memory.
"""

from __future__ import annotations

import contextlib
import dataclasses
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path

from e2e.cluster.maven import jars

ROOT = Path(__file__).parents[2]
PROGRAM = ROOT / ".venv-object-store" / "bin" / "moto_server"
LINK = ROOT / "benchmarks" / "spark" / "slow_link.py"
BUCKET = "checkpoints"
STARTS_S = 60.0


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Distance:
    """How far away the store is: seconds from a request to its answer at least, and bytes a second each way."""

    delay_s: float = 0.05
    rate: float = 50e6


@contextlib.contextmanager
def object_store(distance: Distance) -> Iterator[str]:
    """A store with an empty bucket; its address at that distance. Raises RuntimeError when it does not start."""
    if not PROGRAM.exists():
        raise RuntimeError("no server of an object store: `make object-store` installs one")
    port = _free_port()
    with _running([str(PROGRAM), "-H", "127.0.0.1", "-p", str(port)]) as server:
        _make_bucket(f"http://127.0.0.1:{port}/{BUCKET}", server)
        rates = ["--delay-ms", str(500 * distance.delay_s), "--mb-per-s", str(distance.rate / 1e6)]
        with _running([sys.executable, str(LINK), "--to", str(port), *rates]) as link:
            assert link.stdout is not None
            yield f"http://127.0.0.1:{int(link.stdout.readline())}"


def hadoop_of_spark() -> str:
    """The version of Hadoop's client among the libraries of this Python's Spark."""
    import pyspark

    (found,) = Path(pyspark.__file__).parent.glob("jars/hadoop-client-api-*.jar")
    return found.stem.removeprefix("hadoop-client-api-")


def spark_conf(address: str) -> dict[str, str]:
    """Settings with which Spark reads and writes `s3a://checkpoints/...` there.

    Raises RuntimeError where the jars cannot be had.
    """
    pom = (Path(__file__).parent / "s3a.xml").read_text()
    with tempfile.TemporaryDirectory() as folder:
        wanted = Path(folder, "s3a.xml")
        wanted.write_text(pom.replace("HADOOP", hadoop_of_spark()))
        classpath = ":".join(str(one) for one in sorted(jars(wanted, "s3a").iterdir()))
    s3a = {
        "endpoint": address,
        "endpoint.region": "us-east-1",
        "path.style.access": "true",
        "connection.ssl.enabled": "false",
        "access.key": "any",
        "secret.key": "any",
        # The SDK's asynchronous client takes `100 Continue` for the answer with Spark's Netty, and no snapshot of state
        # is ever uploaded: each load then replays every change since batch 0.
        "optimized.copy.from.local.enabled": "false",
    }
    return {
        "spark.driver.extraClassPath": classpath,
        "spark.executor.extraClassPath": classpath,
        **{f"spark.hadoop.fs.s3a.{name}": value for name, value in s3a.items()},
    }


@contextlib.contextmanager
def _running(command: list[str]) -> Iterator[subprocess.Popen[str]]:
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    try:
        yield process
    finally:
        process.terminate()
        process.wait(30)


def _free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


def _make_bucket(url: str, server: subprocess.Popen[str]) -> None:
    until_s = time.monotonic() + STARTS_S
    while server.poll() is None and time.monotonic() < until_s:
        with contextlib.suppress(OSError):
            urllib.request.urlopen(urllib.request.Request(url, method="PUT"), timeout=10).close()
            return
        time.sleep(0.2)
    raise RuntimeError(f"the object store did not start within {STARTS_S:.0f} s")
