"""One Kafka broker as a process of this machine, in KRaft mode, with its log in a folder that it may have to itself.

`python -m e2e.cluster.broker FOLDER` runs one until it is interrupted, and says at which address.
"""

from __future__ import annotations

import argparse
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

from e2e.cluster import kafka
from e2e.cluster.process import free_ports

CLUSTER_ID = "c3RyZWFtam9iLWpvYnMtMDEx"
START_S, STOP_S = 600.0, 60.0
_SETTINGS = """process.roles=broker,controller
node.id=1
controller.quorum.voters=1@127.0.0.1:{controller}
listeners=PLAINTEXT://127.0.0.1:{port},CONTROLLER://127.0.0.1:{controller}
advertised.listeners=PLAINTEXT://127.0.0.1:{port}
controller.listener.names=CONTROLLER
log.dirs={folder}/log
num.partitions={partitions}
offsets.topic.replication.factor=1
group.initial.rebalance.delay.ms=0
"""


class Broker:
    """A broker on ports of its own; topics come with their first row and have `partitions` partitions."""

    def __init__(self, folder: Path, partitions: int = 2) -> None:
        self._classes = f"{kafka.get(kafka.BROKER)}/*"
        self._settings = folder / "server.properties"
        self._output = folder / "output"
        self._port, controller = free_ports(2)
        folder.mkdir(parents=True, exist_ok=True)
        text = _SETTINGS.format(port=self._port, controller=controller, folder=folder, partitions=partitions)
        self._settings.write_text(text, encoding="utf-8")
        self._process: subprocess.Popen[bytes] | None = None
        format_it = ["format", "--cluster-id", CLUSTER_ID, "--config", str(self._settings)]
        subprocess.run([*self._java("64m"), "kafka.tools.StorageTool", *format_it], check=True, capture_output=True)

    @property
    def address(self) -> str:
        """HOST:PORT, the same one after a restart."""
        return f"127.0.0.1:{self._port}"

    def start(self) -> None:
        """Back once it listens; RuntimeError with its last words when it does not within `START_S`."""
        with self._output.open("ab") as output:
            self._process = subprocess.Popen(
                [*self._java("256m"), "kafka.Kafka", str(self._settings)], stdout=output, stderr=output
            )
        until_s = time.monotonic() + START_S
        while not self._listens():
            if self._process.poll() is not None or time.monotonic() > until_s:
                self.kill()
                raise RuntimeError(f"the broker did not start: {self._output.read_text(errors='replace')[-1000:]}")
            time.sleep(0.1)

    def kill(self) -> None:
        """At once, as a crash; what it has written stays."""
        if self._process is not None:
            self._process.kill()
            self._process.wait(STOP_S)

    def restart(self) -> None:
        """A crash, and back at the same address."""
        self.kill()
        self.start()

    def _listens(self) -> bool:
        with socket.socket() as one:
            return one.connect_ex(("127.0.0.1", self._port)) == 0

    def _java(self, heap: str) -> list[str]:
        quiet = "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn"
        return ["java", f"-Xmx{heap}", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", quiet, "-cp", self._classes]


def main() -> None:
    """Run until interrupted or told to end."""
    parser = argparse.ArgumentParser(
        prog="python -m e2e.cluster.broker", description="One Kafka broker, until told to end."
    )
    parser.add_argument("folder", type=Path, help="for its log and settings; made if it is not there")
    folder: Path = parser.parse_args().folder
    for one in (signal.SIGINT, signal.SIGTERM):
        signal.signal(one, lambda *_: sys.exit())
    broker = Broker(folder.absolute())
    try:
        broker.start()
        print(broker.address, flush=True)
        signal.pause()
    finally:
        broker.kill()


if __name__ == "__main__":
    main()
