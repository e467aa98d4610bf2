"""A real Prometheus on loopback, whose targets can be changed while it runs.

The program is the one on PATH, else one in the cache, else Debian's package unpacked into the cache.
"""

from __future__ import annotations

import json
import shutil
import ssl
import subprocess
import tempfile
import urllib.parse
import urllib.request
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any

from e2e.cluster.binary import cache
from e2e.cluster.process import Process, free_ports

HOW_TO_GET = "no Prometheus: install it (Debian: apt-get install prometheus), or let apt-get download reach a mirror"
_PROGRAMS = ("prometheus", "promtool")
_START_S = 30.0
_DOWNLOAD_S = 120.0


def find(name: str = "prometheus") -> Path | None:
    """The program (or promtool, of the same package) on PATH or in the cache; nothing is fetched."""
    on_path = shutil.which(name)
    return Path(on_path) if on_path else (_cached(name) if _cached(name).exists() else None)


def get(name: str = "prometheus") -> Path | None:
    """The program, fetched from Debian's mirror where it is not there; None when it cannot be had."""
    return find(name) or (_cached(name) if _download() else None)


class Prometheus:
    """One server with a folder of its own; a context manager.

    `scrape_configs` are Prometheus's own, `web_config` its web configuration (TLS, basic auth), `authorization` the
    header with which this class asks it. Intervals may be given in milliseconds, so that tests need not wait.
    """

    def __init__(
        self,
        folder: Path,
        program: Path,
        scrape_configs: Sequence[Mapping[str, Any]] = (),
        *,
        web_config: Mapping[str, Any] | None = None,
        authorization: str | None = None,
        scrape_interval: str = "200ms",
        flags: Sequence[str] = (),
    ) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._folder = folder
        self._interval = scrape_interval
        self._headers = {} if authorization is None else {"Authorization": authorization}
        scheme = "https" if web_config and "tls_server_config" in web_config else "http"
        port = free_ports(1)[0]
        self.url = f"{scheme}://127.0.0.1:{port}"
        self._write(scrape_configs)
        (folder / "web.yml").write_text(json.dumps(web_config or {}), encoding="utf-8")
        command = [
            str(program),
            f"--config.file={folder / 'prometheus.yml'}",
            f"--web.config.file={folder / 'web.yml'}",
            f"--web.listen-address=127.0.0.1:{port}",
            f"--storage.tsdb.path={folder / 'data'}",
            "--web.enable-lifecycle",
            "--log.level=warn",
            *flags,
        ]
        self.process = Process("prometheus", command, folder / "prometheus.log")

    def __enter__(self) -> Prometheus:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.process.stop()

    def start(self) -> None:
        """Start it, or start it again on its old data; raises DidNotStart."""
        self.process.start()
        self.process.wait_until(self._ready, _START_S)

    def scrape(self, scrape_configs: Sequence[Mapping[str, Any]]) -> None:
        """Replace what it scrapes; it keeps its data."""
        self._write(scrape_configs)
        self._ask("/-/reload", "POST")

    def query(self, expression: str) -> list[dict[str, Any]]:
        """The result of an instant query, for tests that look for themselves."""
        answer = self._ask(f"/api/v1/query?query={urllib.parse.quote(expression)}", "GET")
        return list(json.loads(answer)["data"]["result"])

    def _write(self, scrape_configs: Sequence[Mapping[str, Any]]) -> None:
        document = {
            "global": {"scrape_interval": self._interval, "scrape_timeout": self._interval},
            "scrape_configs": list(scrape_configs),
        }
        (self._folder / "prometheus.yml").write_text(json.dumps(document), encoding="utf-8")  # JSON is YAML

    def _ready(self) -> bool:
        try:
            return b"Ready" in self._ask("/-/ready", "GET")
        except OSError:
            return False

    def _ask(self, path: str, method: str) -> bytes:
        request = urllib.request.Request(self.url + path, method=method, headers=self._headers)
        unverified = ssl._create_unverified_context()  # our own child on loopback
        with urllib.request.urlopen(request, timeout=10.0, context=unverified) as answer:
            return bytes(answer.read())


def static_target(address: str, job: str = "agents", **labels: str) -> dict[str, Any]:
    """A scrape config for one page server at host:port, with target labels as a PodMonitor would set them."""
    return {"job_name": job, "static_configs": [{"targets": [address], "labels": labels}]}


def _cached(name: str) -> Path:
    return cache() / name


def _download() -> bool:
    """Debian's package unpacked into the cache, without its dependencies' help: the program is static enough."""
    if not (shutil.which("apt-get") and shutil.which("dpkg")):
        return False
    with tempfile.TemporaryDirectory() as folder:
        fetch = ["apt-get", "-o", "APT::Sandbox::User=root", "download", "prometheus"]
        done = subprocess.run(fetch, cwd=folder, capture_output=True, timeout=_DOWNLOAD_S, check=False)
        package = next(Path(folder).glob("prometheus_*.deb"), None)
        if done.returncode or package is None:
            return False
        subprocess.run(["dpkg", "-x", str(package), f"{folder}/unpacked"], check=True, timeout=_DOWNLOAD_S)
        cache().mkdir(parents=True, exist_ok=True)
        for name in _PROGRAMS:
            shutil.copy2(f"{folder}/unpacked/usr/bin/{name}", _cached(name))
    return True
