"""How to reach the API server: from inside a pod, or with the kubeconfig that KUBECONFIG names."""

from __future__ import annotations

import dataclasses
import pathlib
import ssl
from collections.abc import Callable, Mapping
from typing import Any

from streamjob_agent.listening import shown

ACCOUNT_FOLDER = pathlib.Path("/var/run/secrets/kubernetes.io/serviceaccount")


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Access:
    """The server's address, whom to trust, and what to say who we are.

    `trust` gives whom to trust anew for each connection, None where it is not encrypted, and `authorization` the
    header's value anew for each request, None sends none: authorities and tokens are rotated.
    """

    server: str
    trust: Callable[[], ssl.SSLContext | None]
    authorization: Callable[[], str | None]


def find_access(environ: Mapping[str, str], folder: pathlib.Path = ACCOUNT_FOLDER) -> Access:
    """KUBECONFIG if it is set, else the pod's service account. Raises OSError, ValueError or ImportError."""
    path = environ.get("KUBECONFIG")
    return from_kubeconfig(path) if path else in_cluster(environ, folder)


def in_cluster(environ: Mapping[str, str], folder: pathlib.Path = ACCOUNT_FOLDER) -> Access:
    """The service account of the pod we run in; raises OSError where we run in none."""
    host, port = environ.get("KUBERNETES_SERVICE_HOST"), environ.get("KUBERNETES_SERVICE_PORT")
    if not host or not port:
        raise OSError(
            "neither KUBECONFIG nor KUBERNETES_SERVICE_HOST and _PORT are set: where the API server is unknown"
        )
    return Access(
        server=f"https://{shown(host)}:{port}",
        trust=lambda: ssl.create_default_context(cafile=str(folder / "ca.crt")),
        authorization=lambda: f"Bearer {(folder / 'token').read_text(encoding='ascii').strip()}",
    )


def from_kubeconfig(path: str) -> Access:
    """The current context of a kubeconfig file, read by the `kubernetes` package: certificates, tokens, plugins."""
    from kubernetes import client, config  # lazily: it is large, and a pod does without it

    found = client.Configuration()
    load: Any = config.load_kube_config  # the package has no types
    load(config_file=path, client_configuration=found)
    return Access(
        server=str(found.host).rstrip("/"),
        trust=lambda: _context(found) if str(found.host).startswith("https") else None,
        authorization=lambda: found.get_api_key_with_prefix("authorization"),
    )


def _context(found: object) -> ssl.SSLContext:
    context = ssl.create_default_context(cafile=getattr(found, "ssl_ca_cert", None))
    if not getattr(found, "verify_ssl", True):
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    certificate = getattr(found, "cert_file", None)
    if certificate:
        context.load_cert_chain(certificate, getattr(found, "key_file", None))
    return context
