"""kopf's way to the API server: it keeps what a log-in gave it, so log-ins are repeated, as files are replaced."""

from __future__ import annotations

import asyncio
from typing import Any

import aiohttp
import pytest
from kopf._cogs.clients.auth import APIContext
from kopf._cogs.structs.credentials import Vault
from kubernetes.client import Configuration

from streamjob_operator.kube.process.handlers import LOGIN_S, connection_info


async def asked(vault: Vault, url: str) -> int:
    """The status of one request, by the session that kopf would use."""
    async for _, _, context in vault.extended(APIContext, "contexts"):
        async with context.session.get(url) as answer:
            return answer.status
    raise AssertionError("no credentials")


def test_an_authority_that_was_replaced_is_trusted_from_the_next_log_in_on(rotating: Any) -> None:
    connection = Configuration(host=f"https://127.0.0.1:{rotating.port}")
    connection.ssl_ca_cert = str(rotating.ca)

    async def story() -> None:
        first = connection_info(connection, now_s=0.0)
        vault = Vault({"login": first})  # it is long over: asked anew before the first request
        log_in = asyncio.create_task(logging_in(vault))
        assert await asked(vault, connection.host) == 200
        rotating.rotate("second")
        with pytest.raises(aiohttp.ClientConnectorCertificateError):
            await asked(vault, connection.host)
        rotating.tell("second")
        await log_out(vault)
        assert await asked(vault, connection.host) == 200
        log_in.cancel()
        await vault.close()

    async def logging_in(vault: Vault) -> None:
        while True:
            await vault.wait_for_emptiness()
            await vault.populate({"login": connection_info(connection, now_s=2e9 + rotating.port)})

    async def log_out(vault: Vault) -> None:
        """As time does it."""
        vault._current["login"] = type(vault._current["login"])(  # type: ignore[index]
            info=connection_info(connection, now_s=0.0),
            caches=vault._current["login"].caches,  # type: ignore[index]
        )
        vault._update_expiration()

    asyncio.run(story())


def test_log_ins_of_a_while_are_the_same_so_that_one_that_was_refused_is_not_repeated_at_once() -> None:
    connection = Configuration(host="https://127.0.0.1:1")
    at = [connection_info(connection, now_s=seconds) for seconds in (0.0, LOGIN_S - 1.0, LOGIN_S)]
    assert at[0] == at[1] != at[2]
    assert at[0].expiration is not None
    assert at[0].expiration.timestamp() == LOGIN_S
