"""Trust and certificates of one Prometheus, from secrets: nothing of them stays on the disk."""

from __future__ import annotations

import os
import ssl
import tempfile
from pathlib import Path
from typing import Any

from requests.utils import DEFAULT_CA_BUNDLE_PATH
from urllib3.util.retry import Retry

from streamjob_operator.kube.metrics.whole import Whole, WholeAdapter
from streamjob_operator.kube.names import KubeReason
from streamjob_operator.ports import Unavailable


class TlsAdapter(WholeAdapter):
    """Trusts and shows what `context` says, and nothing else."""

    def __init__(self, whole: Whole, retry: Retry, context: ssl.SSLContext) -> None:
        self._context = context
        super().__init__(whole, retry)

    def init_poolmanager(self, *args: Any, **kwargs: Any) -> None:
        """As in the base class, with our context."""
        super().init_poolmanager(*args, ssl_context=self._context, **kwargs)

    def cert_verify(self, conn: Any, url: Any, verify: Any, cert: Any) -> None:
        """The base class would add the authorities of its own bundle."""


def tls_context(url: str, ca_pem: str | None, client_pem: tuple[str, str] | None, *, verify: bool) -> ssl.SSLContext:
    """Trusts the authorities given and nobody else (the image's where none are), and shows a certificate if there is
    one; raises Unavailable (PrometheusTls) when one of them cannot be used.
    """
    context = _context(url, ca_pem, verify)
    if client_pem is not None:
        _show(context, url, *client_pem)
    return context


def _context(url: str, ca_pem: str | None, verify: bool) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    if not verify:
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    try:
        if ca_pem is None:
            context.load_verify_locations(DEFAULT_CA_BUNDLE_PATH)
        else:
            context.load_verify_locations(cadata=ca_pem)
    except (ssl.SSLError, ValueError, TypeError) as error:  # the last one for letters beyond ASCII
        message = f"ca.crt for Prometheus at {url} is no certificate: {error}."
        raise Unavailable(message, code=KubeReason.PROMETHEUS_TLS) from error
    return context


def _show(context: ssl.SSLContext, url: str, certificate: str, key: str) -> None:
    """OpenSSL reads the pair from files alone; they are ours to read, and gone at once."""
    with tempfile.TemporaryDirectory() as folder:
        shown, secret = _written(Path(folder) / "tls.crt", certificate), _written(Path(folder) / "tls.key", key)
        try:
            context.load_cert_chain(shown, secret, password="")  # or it would ask at the terminal
        except (ssl.SSLError, ValueError) as error:
            message = f"tls.crt and tls.key for Prometheus at {url} are no certificate and its key: {error}."
            raise Unavailable(message, code=KubeReason.PROMETHEUS_TLS) from error


def _written(path: Path, text: str) -> str:
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as file:
        file.write(text)
    return str(path)
