"""A slow link on loopback: what goes through it comes late, and no more of it a second than the link carries.

python benchmarks/spark/slow_link.py --to 5000 --delay-ms 25 --mb-per-s 50   # prints the port that it listens on

Each way of each connection is delayed, so a request and its answer are twice as late; all connections share what the
link carries each way. An object store behind it is as far away as one in a data centre is.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import dataclasses

CHUNK_BYTES = 64 * 1024
MOST_CHUNKS = 256
"""Chunks on their way in one direction of a connection: more than any delay here holds at any rate here."""


@dataclasses.dataclass(slots=True)
class Way:
    """One direction of the link: seconds that a byte is under way, bytes a second, and when the link is free again."""

    delay_s: float
    rate: float
    free_at_s: float = 0.0

    def arrives_s(self, now_s: float, size_bytes: int) -> float:
        """When a chunk that is sent now has arrived: after those before it, at the link's rate, and the delay."""
        self.free_at_s = max(now_s, self.free_at_s) + size_bytes / self.rate
        return self.free_at_s + self.delay_s


async def carry(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, way: Way) -> None:
    """One way of one connection, until its end; the end is passed on."""
    clock = asyncio.get_running_loop().time
    under_way: asyncio.Queue[tuple[float, bytes]] = asyncio.Queue(MOST_CHUNKS)

    async def send() -> None:
        while True:
            chunk = await reader.read(CHUNK_BYTES)
            await under_way.put((way.arrives_s(clock(), len(chunk)), chunk))
            if not chunk:
                return

    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(send())
        while True:
            at_s, chunk = await under_way.get()
            await asyncio.sleep(at_s - clock())
            if not chunk:
                break
            writer.write(chunk)
            await writer.drain()
    with contextlib.suppress(OSError):
        writer.write_eof()


async def serve(to: int, delay_s: float, rate: float) -> asyncio.Server:
    """A link to a port of loopback, on a port that the system gives."""
    there, back = Way(delay_s, rate), Way(delay_s, rate)

    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            far_reader, far_writer = await asyncio.open_connection("127.0.0.1", to)
            try:
                await asyncio.gather(carry(reader, far_writer, there), carry(far_reader, writer, back))
            finally:
                far_writer.close()
        except* OSError:
            pass  # a connection that breaks on one side breaks on the other
        finally:
            writer.close()

    return await asyncio.start_server(connected, "127.0.0.1", 0)


async def main() -> None:
    """Serve until the process is ended."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--to", type=int, required=True)
    parser.add_argument("--delay-ms", type=float, default=25.0)
    parser.add_argument("--mb-per-s", type=float, default=50.0)
    args = parser.parse_args()
    server = await serve(args.to, args.delay_ms / 1000.0, args.mb_per_s * 1e6)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(main())
