"""Certificates, service-account keys and kubeconfigs of a cluster for tests, made with openssl."""

from __future__ import annotations

import dataclasses
import json
import subprocess
from pathlib import Path

_NAMES = "DNS:localhost,DNS:kubernetes,DNS:kubernetes.default,DNS:kubernetes.default.svc"
_DAYS = "2"


@dataclasses.dataclass(frozen=True, slots=True)
class Pair:
    """A certificate and its key, as PEM files."""

    certificate: Path
    key: Path


@dataclasses.dataclass(frozen=True, slots=True)
class Authority:
    """A certificate authority of its own for each cluster."""

    folder: Path
    pair: Pair

    @classmethod
    def make(cls, folder: Path) -> Authority:
        """A new authority whose files lie in `folder`."""
        folder.mkdir(parents=True, exist_ok=True)
        pair = Pair(folder / "ca.crt", folder / "ca.key")
        _request(pair, "/CN=streamjob-test-ca", "-addext", "keyUsage=critical,keyCertSign,cRLSign")
        return cls(folder, pair)

    def server(self, name: str, addresses: tuple[str, ...]) -> Pair:
        """A certificate for a server on these IP addresses, and the names of the API server."""
        names = ",".join((_NAMES, *(f"IP:{address}" for address in addresses)))
        return self._signed(name, f"/CN={name}", "serverAuth", "-addext", f"subjectAltName={names}")

    def client(self, name: str, *groups: str) -> Pair:
        """A certificate for a user `name` of these groups."""
        subject = "".join(f"/O={group}" for group in groups) + f"/CN={name}"
        return self._signed(name.replace(":", "-"), subject, "clientAuth")

    def _signed(self, name: str, subject: str, usage: str, *more: str) -> Pair:
        pair = Pair(self.folder / f"{name}.crt", self.folder / f"{name}.key")
        signer = ("-CA", str(self.pair.certificate), "-CAkey", str(self.pair.key))
        constraints = ("-addext", "basicConstraints=critical,CA:FALSE", "-addext", f"extendedKeyUsage={usage}")
        _request(pair, subject, *signer, *constraints, *more)
        return pair


def service_account_keys(folder: Path) -> tuple[Path, Path]:
    """The key that signs service accounts' tokens, and the public key that checks them."""
    private, public = folder / "sa.key", folder / "sa.pub"
    _openssl("genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256", "-out", str(private))
    _openssl("pkey", "-in", str(private), "-pubout", "-out", str(public))
    return private, public


def kubeconfig(path: Path, server: str, authority: Authority, user: Pair | str, namespace: str = "default") -> Path:
    """Write a kubeconfig for a client certificate, or for a bearer token; JSON is YAML."""
    login = {"token": user} if isinstance(user, str) else _certificate_login(user)
    document = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [
            {"name": "test", "cluster": {"server": server, "certificate-authority": str(authority.pair.certificate)}}
        ],
        "users": [{"name": "user", "user": login}],
        "contexts": [{"name": "test", "context": {"cluster": "test", "user": "user", "namespace": namespace}}],
        "current-context": "test",
    }
    path.write_text(json.dumps(document, indent=1), encoding="utf-8")
    path.chmod(0o600)
    return path


def _certificate_login(pair: Pair) -> dict[str, str]:
    return {"client-certificate": str(pair.certificate), "client-key": str(pair.key)}


def _request(pair: Pair, subject: str, *options: str) -> None:
    key = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", str(pair.key))
    _openssl("req", "-x509", *key, "-subj", subject, "-days", _DAYS, "-out", str(pair.certificate), *options)


def _openssl(*arguments: str) -> None:
    done = subprocess.run(["openssl", *arguments], capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"openssl {arguments[0]} failed: {done.stderr.strip()[-500:]}")
