"""A real Kubernetes control plane on loopback: etcd, kube-apiserver, kube-controller-manager, RBAC on, no nodes.

Up in about eight seconds; gone when the process that started it is gone, however it ended.

`python -m e2e.cluster.controlplane` starts one for a person, prints how to reach it, and ends it with Ctrl-C.
"""

from __future__ import annotations

import argparse
import dataclasses
import http.client
import ipaddress
import os
import shutil
import signal
import ssl
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from urllib.parse import urlsplit

from e2e.cluster import binary, pki
from e2e.cluster.network import in_url
from e2e.cluster.process import Process, free_ports

START_S = 90.0
"""Longest wait for one part, seconds: a busy machine is slow, a broken part fails at once."""
_PREFIX = "streamjob-kube-"
_PARTS = ("etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler", "kubelet", "kube-proxy", "coredns")


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where the API server listens, and which addresses services get."""

    host: str = "127.0.0.1"
    services: str = "10.96.0.0/16"
    api_service: str = "10.96.0.1"  # the first address of `services`


LOOPBACK = Place()
LOOPBACK_6 = Place(host="::1", services="fd00:10:96::/112", api_service="fd00:10:96::1")
"""A cluster whose every address is one of IPv6."""


class ControlPlane:
    """The running cluster. Use as a context manager; `kubeconfig` is an administrator's."""

    def __init__(self, kube: Path, *, scheduler: bool = False, place: Place = LOOPBACK) -> None:
        """Prepare it in a temporary folder of its own; nothing runs yet."""
        self.place = place
        self.folder = _own_folder()
        for part in _PARTS:
            (self.folder / part).symlink_to(kube.resolve())
        self._client, self._peer, self._secure = free_ports(3)
        self.server = f"https://{in_url(place.host)}:{self._secure}"
        self.authority = pki.Authority.make(self.folder / "pki")
        self._keys = pki.service_account_keys(self.authority.folder)
        self._admin = self.authority.client("admin", "system:masters")
        self.kubeconfig = pki.kubeconfig(self.folder / "kubeconfig", self.server, self.authority, self._admin)
        self.etcd = self._process("etcd", self._etcd_flags())
        self.api_server = self._process("kube-apiserver", self._api_server_flags())
        self.controller_manager = self._process("kube-controller-manager", self._controller_flags())
        self.scheduler = self._process("kube-scheduler", self._scheduler_flags()) if scheduler else None

    def __enter__(self) -> ControlPlane:
        """Start every part and wait until it answers; raises DidNotStart."""
        try:
            self.etcd.start()
            self.start_api_server()
            for controller in self._controllers():
                controller.start()
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> None:
        """End every part and remove the folder."""
        self.close()

    def start_api_server(self) -> None:
        """Start the API server (again) and wait until it is ready; raises DidNotStart."""
        self.api_server.start()
        self.api_server.wait_until(self._ready, START_S)

    def close(self) -> None:
        """End every part and remove the folder."""
        for part in (*self._controllers(), self.api_server, self.etcd):
            part.stop()
        shutil.rmtree(self.folder, ignore_errors=True)

    def kubeconfig_for(self, name: str, token: str, namespace: str = "default") -> Path:
        """A kubeconfig that logs in with a service account's token."""
        path = self.folder / f"kubeconfig-{name}"
        return pki.kubeconfig(path, self.server, self.authority, token, namespace)

    def _controllers(self) -> Iterator[Process]:
        yield from (one for one in (self.scheduler, self.controller_manager) if one is not None)

    def _process(self, part: str, flags: dict[str, str]) -> Process:
        command = [str(self.folder / part), *(f"--{name}={value}" for name, value in flags.items())]
        return Process(part, command, self.folder / f"{part}.log")

    def _etcd_flags(self) -> dict[str, str]:
        client, peer = (f"http://127.0.0.1:{port}" for port in (self._client, self._peer))
        return {
            "name": "one",
            "data-dir": str(self.folder / "etcd.data"),
            "listen-client-urls": client,
            "advertise-client-urls": client,
            "listen-peer-urls": peer,
            "initial-advertise-peer-urls": peer,
            "initial-cluster": f"one={peer}",
            "log-level": "warn",
            "unsafe-no-fsync": "true",  # the data need not survive the machine
        }

    def _api_server_flags(self) -> dict[str, str]:
        host = self.place.host
        served = self.authority.server("kube-apiserver", (host, self.place.api_service))
        private, public = self._keys
        to_kubelet = self.authority.client("kube-apiserver-kubelet-client", "system:masters")
        return {
            "etcd-servers": f"http://127.0.0.1:{self._client}",
            "bind-address": host,
            "advertise-address": host,
            "secure-port": str(self._secure),
            # Loopback may not be an endpoint of the service "kubernetes".
            "endpoint-reconciler-type": "none" if ipaddress.ip_address(host).is_loopback else "lease",
            "tls-cert-file": str(served.certificate),
            "tls-private-key-file": str(served.key),
            "client-ca-file": str(self.authority.pair.certificate),
            "kubelet-client-certificate": str(to_kubelet.certificate),
            "kubelet-client-key": str(to_kubelet.key),
            "service-account-issuer": "https://kubernetes.default.svc",
            "service-account-signing-key-file": str(private),
            "service-account-key-file": str(public),
            "service-cluster-ip-range": self.place.services,
            "authorization-mode": "Node,RBAC",
            "enable-admission-plugins": "NodeRestriction",
            "allow-privileged": "true",
            "kubelet-preferred-address-types": "InternalIP",  # names of nodes are in no DNS
        }

    def _controller_flags(self) -> dict[str, str]:
        return {
            "kubeconfig": str(self._login("controller-manager")),
            "service-account-private-key-file": str(self._keys[0]),
            "root-ca-file": str(self.authority.pair.certificate),
            "use-service-account-credentials": "true",
            "leader-elect": "false",
            "secure-port": "0",
        }

    def _scheduler_flags(self) -> dict[str, str]:
        return {"kubeconfig": str(self._login("scheduler")), "leader-elect": "false", "secure-port": "0"}

    def _login(self, part: str) -> Path:
        pair = self.authority.client(f"system:kube-{part}")
        return pki.kubeconfig(self.folder / f"kubeconfig-{part}", self.server, self.authority, pair)

    def _ready(self) -> bool:
        context = ssl.create_default_context(cafile=str(self.authority.pair.certificate))
        context.load_cert_chain(self._admin.certificate, self._admin.key)
        address = urlsplit(self.server)
        connection = http.client.HTTPSConnection(str(address.hostname), address.port, context=context, timeout=5)
        try:
            connection.request("GET", "/readyz")
            return connection.getresponse().status == http.client.OK
        except OSError:
            return False
        finally:
            connection.close()


def _own_folder() -> Path:
    """A new temporary folder; folders of processes that were killed are removed first."""
    base = Path(tempfile.gettempdir())
    for left in base.glob(f"{_PREFIX}*"):
        owner = left.name.removeprefix(_PREFIX).partition("-")[0]
        if owner.isdecimal() and not Path(f"/proc/{owner}").exists():
            shutil.rmtree(left, ignore_errors=True)
    return Path(tempfile.mkdtemp(prefix=f"{_PREFIX}{os.getpid()}-", dir=base))


@contextmanager
def _ended_by(*signals: signal.Signals) -> Iterator[None]:
    """Turn these signals into an ordinary end."""

    def end(number: int, _: object) -> None:
        raise SystemExit(128 + number)

    before = {one: signal.signal(one, end) for one in signals}
    try:
        yield
    finally:
        for one, handler in before.items():
            signal.signal(one, handler)


def main() -> None:
    """Start a control plane for a person; it ends with Ctrl-C."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--scheduler", action="store_true", help="start the scheduler, too (there are no nodes)")
    options = parser.parse_args()
    with _ended_by(signal.SIGTERM), ControlPlane(binary.get(), scheduler=options.scheduler) as plane:
        print(f"export KUBECONFIG={plane.kubeconfig}\nLogs: {plane.folder}/*.log. Ctrl-C ends it.", flush=True)
        try:
            signal.pause()
        except KeyboardInterrupt:
            print("Ending.")


if __name__ == "__main__":
    main()
