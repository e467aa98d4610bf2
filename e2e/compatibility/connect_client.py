"""`connect_client.py FOLDER`: a client of Spark Connect, and its server, which may have the agent as its plugin."""

from __future__ import annotations

import contextlib
import json
import pathlib
import socket
import sys
import time
import urllib.request
from typing import Any

from pyspark.errors.exceptions.connect import SparkConnectException
from pyspark.sql import SparkSession

from e2e.compatibility.program import Program
from e2e.compatibility.submitted import PLUGIN, have_jars_made, plugged, submitted

SERVER = "org.apache.spark.sql.connect.service.SparkConnectServer"
WAIT_S = 300.0


class Client(Program):
    """The same queries, in a server's driver."""

    def __init__(self, folder: pathlib.Path, server: contextlib.ExitStack) -> None:
        self.server = server
        super().__init__(folder)

    def _session(self) -> Any:
        port, self.page = _free_port(), _free_port()
        conf = {
            **self.order["conf"],
            "spark.connect.grpc.binding.address": "127.0.0.1",
            "spark.connect.grpc.binding.port": str(port),
            "spark.ui.enabled": "true",
            "spark.ui.port": str(self.page),
        }
        options = ["--class", SERVER]
        if self.order["plugin"]:
            have_jars_made(self.folder)
            conf, options = plugged(conf), ["--jars", str(self.folder / PLUGIN), *options]
        driver = self.server.enter_context(submitted(conf, options, ["spark-internal"]))
        until_s = time.monotonic() + WAIT_S
        while not _listens(port) and driver.poll() is None and time.monotonic() < until_s:
            time.sleep(0.5)
        session = SparkSession.builder.remote(f"sc://127.0.0.1:{port}").getOrCreate()
        while not _answers(session) and time.monotonic() < until_s:
            time.sleep(0.5)
        return session

    def seen(self) -> tuple[int, str]:
        """What the server's own page tells."""
        (application,) = self._ask("applications")
        one = f"applications/{application['id']}"
        failed = sum(int(summary["failedTasks"]) for summary in self._ask(f"{one}/allexecutors"))
        return failed, str(self._ask(f"{one}/environment")["runtime"]["javaVersion"])

    def _ask(self, what: str) -> Any:
        with urllib.request.urlopen(f"http://127.0.0.1:{self.page}/api/v1/{what}", timeout=60) as answer:
            return json.load(answer)


def _free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


def _listens(port: int) -> bool:
    try:
        socket.create_connection(("127.0.0.1", port), timeout=5).close()
    except OSError:
        return False
    return True


def _answers(session: Any) -> bool:
    """Whether the server has a session yet: Spark 4.0's listens for some seconds before that."""
    try:
        session.conf.get("spark.app.name")
    except SparkConnectException as error:
        if "No active or default Spark session" not in str(error):
            raise
        return False
    return True


if __name__ == "__main__":
    with contextlib.ExitStack() as stack:
        Client(pathlib.Path(sys.argv[1]), stack).run()
