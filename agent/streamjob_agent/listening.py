"""Where a server listens: everywhere is IPv4 and IPv6, whichever a cluster's pods have. Standard library only."""

from __future__ import annotations

import socket
import socketserver
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

EVERYWHERE = frozenset(("", "0.0.0.0", "::"))
"""Hosts that mean every interface."""


class WideServer(ThreadingHTTPServer):
    """Listens at a host and a port; everywhere is to callers by IPv4 and IPv6, as far as the machine has both.

    Raises OSError when it cannot.
    """

    def __init__(self, address: tuple[str, int], handler: type[BaseHTTPRequestHandler]) -> None:
        self.address_family, host = _family(address[0])
        super().__init__((host, address[1]), handler)

    def server_bind(self) -> None:
        """As of any TCP server: HTTPServer's own asks the name service who we are, and all wait for the answer."""
        if self.address_family == socket.AF_INET6:
            self.socket.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
        socketserver.TCPServer.server_bind(self)
        self.server_name, self.server_port = str(self.server_address[0]), int(self.server_address[1])


def _family(host: str) -> tuple[socket.AddressFamily, str]:
    if host not in EVERYWHERE:
        return socket.AF_INET6 if ":" in host else socket.AF_INET, host
    return (socket.AF_INET6, "::") if socket.has_dualstack_ipv6() else (socket.AF_INET, "0.0.0.0")


def shown(host: str) -> str:
    """As a URL has it."""
    return f"[{host}]" if ":" in host else host


def own_address() -> str:
    """Of this machine, as others know it; raises OSError where it does not know that itself."""
    found = socket.getaddrinfo(socket.gethostname(), None, type=socket.SOCK_STREAM)
    return str(found[0][4][0])
