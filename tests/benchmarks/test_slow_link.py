"""The slow link carries everything, late and at its rate: an echo behind it on loopback."""

from __future__ import annotations

import asyncio
import time

import pytest
from slow_link import Way, serve


async def echo(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while data := await reader.read(65536):
        writer.write(data)
        await writer.drain()
    writer.write_eof()
    writer.close()


async def through(data: bytes, delay_s: float, rate: float) -> tuple[bytes, float]:
    """What comes back of `data` through a link with an echo behind it, and the seconds that it took."""
    far = await asyncio.start_server(echo, "127.0.0.1", 0)
    link = await serve(far.sockets[0].getsockname()[1], delay_s, rate)
    async with far, link:
        reader, writer = await asyncio.open_connection("127.0.0.1", link.sockets[0].getsockname()[1])
        began_s = time.monotonic()
        writer.write(data)
        writer.write_eof()
        found = await reader.read()
        writer.close()
        return found, time.monotonic() - began_s


@pytest.mark.parametrize(("size", "delay_s", "rate"), [(10, 0.05, 1e9), (3_000_000, 0.0, 10e6), (500_000, 0.02, 5e6)])
def test_all_of_it_comes_back_no_sooner_than_delay_and_rate_allow(size: int, delay_s: float, rate: float) -> None:
    data = bytes(range(256)) * (size // 256 + 1)
    found, took_s = asyncio.run(through(data, delay_s, rate))
    assert found == data
    assert took_s >= 2 * delay_s + len(data) / rate - 0.005


def test_chunks_follow_each_other_at_the_rate_and_a_rest_is_no_credit() -> None:
    way = Way(delay_s=1.0, rate=100.0)
    assert [way.arrives_s(0.0, 50), way.arrives_s(0.0, 50), way.arrives_s(9.0, 100)] == [1.5, 2.0, 11.0]
