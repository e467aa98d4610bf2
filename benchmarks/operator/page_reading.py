"""What reading one page of an agent takes: CPU seconds, and memory beside the page, of ours and of Prometheus's client.

    python -m benchmarks.operator.page_reading --mib 64

Pages are made up to so many MiB: of key groups as the agent writes them, of pairs of traffic, and of lines of four
bytes, which only a page that is not the agent's can have. Each reading is a process of its own: the most that it had
resident (VmHWM, which Linux is told to forget once the page is there), less what it had with the page. --trace tells
what tracemalloc counts instead, which makes reading some five times as long. `kept` is what the page counts as in the
room. CPU is the process's own, the least of --rounds.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
import tracemalloc
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from prometheus_client.parser import text_string_to_metric_families

from streamjob_agent import metric_names as names
from streamjob_operator.measure.page import labels_of, parse_pages
from streamjob_operator.measure.page_text import finite
from streamjob_operator.measure.room import bytes_of
from streamjob_operator.ports import Unavailable

MIB = 2**20
QUERY = "0b5b2c86-7a5d-4b0a-9c5e-2a6b0f6d1a55"
OF_GROUPS = (
    names.GROUP_BUSY_SECONDS,
    names.GROUP_CPU_SECONDS,
    names.GROUP_RECORDS,
    names.GROUP_LOCAL_BYTES,
    names.GROUP_REMOTE_BYTES,
    names.GROUP_EXECUTOR_ID,
    names.GROUP_STATE_ROWS,
    names.GROUP_STATE_BYTES,
)


def _first() -> str:
    return (
        f'{names.AGENT_INFO}{{agent_version="1",spark_version="4",application="app"}} 1.0\n'
        f'{names.QUERY_INFO}{{query="{QUERY}",name="",run="{QUERY}"}} 1.0\n'
        f'{names.QUERY_BATCHES}{{query="{QUERY}"}} 7.0\n'
        f'{names.GROUP_BUSY_SECONDS}{{query="{QUERY}",operator="0",partition="0"}} 1.0\n'
    )


def _groups(size_bytes: int) -> Iterator[str]:
    """By key group, where the agent writes series by series: their number follows from the size."""
    size, number = 0, 0
    while size < size_bytes:
        labels = f'{{query="{QUERY}",operator="{number // 10_000}",partition="{number % 10_000}"}}'
        lines = "".join(f"{name}{labels} {1.0 / (number + 1)!r}\n" for name in OF_GROUPS[:5])
        lines += "".join(f"{name}{labels} {float(number % 1000)!r}\n" for name in OF_GROUPS[5:])
        size, number = size + len(lines), number + 1
        yield lines


def _traffic(size_bytes: int) -> Iterator[str]:
    size, number = 0, 0
    while size < size_bytes:
        ends = f'from_operator="0",from_partition="{number // 100}",to_operator="1",to_partition="{number % 100}"'
        line = f'{names.TRAFFIC_BYTES}{{query="{QUERY}",{ends}}} {float(number)!r}\n'
        size, number = size + len(line), number + 1
        yield line


def _four_bytes(size_bytes: int) -> Iterator[str]:
    yield "a 1\n" * (size_bytes // 4)


KINDS: dict[str, Callable[[int], Iterator[str]]] = {"groups": _groups, "traffic": _traffic, "four": _four_bytes}


def _ours(body: bytes) -> dict[str, Any]:
    try:
        pages = parse_pages(body, 0.0)
    except Unavailable as error:
        return {"told": str(error)}
    return {"kept_mib": round(bytes_of(pages) / MIB, 1), "groups": len(pages[0].group_ids)}


def _client(body: bytes) -> dict[str, Any]:
    """As pages were read before: the series alone, and no page is made of them."""
    found: dict[str, dict[tuple[str, ...], float]] = {}
    for family in text_string_to_metric_families(body.decode("utf-8", errors="replace")):
        for sample in family.samples:
            labels = labels_of(sample.name)
            if labels is not None:
                series = found.setdefault(sample.name, {})
                series[tuple(sample.labels[label] for label in labels)] = finite(sample.value)
    return {"series": sum(map(len, found.values()))}


READERS: dict[str, Callable[[bytes], dict[str, Any]]] = {"ours": _ours, "client": _client}


def measure(kind: str, reader: str, mib: int, *, trace: bool) -> dict[str, Any]:
    """One reading, in this process."""
    body = b"".join(part.encode() for part in (_first(), *KINDS[kind](mib * MIB)))
    if trace:
        tracemalloc.start()
    Path("/proc/self/clear_refs").write_text("5", encoding="ascii")  # the most so far is what there is now
    before_kib, begun_s = _most_kib(), time.process_time()
    told = READERS[reader](body)
    took_s = time.process_time() - begun_s
    found = {"page_mib": round(len(body) / MIB, 1), "cpu_s": round(took_s, 2), **told}
    if trace:
        return found | {"traced_mib": round(tracemalloc.get_traced_memory()[1] / MIB)}
    return found | {"more_mib": round((_most_kib() - before_kib) / 1024)}


def _most_kib() -> int:
    lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM"))


def main() -> int:
    """Each kind by each reader, in processes of their own."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--mib", type=int, default=64)
    parser.add_argument("--kinds", nargs="+", default=list(KINDS), choices=KINDS)
    parser.add_argument("--readers", nargs="+", default=list(READERS), choices=READERS)
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--trace", action="store_true")
    parser.add_argument("--here", action="store_true", help="the first kind and reader, in this process")
    options = parser.parse_args()
    if options.here:
        print(json.dumps(measure(options.kinds[0], options.readers[0], options.mib, trace=options.trace)))
        return 0
    for kind in options.kinds:
        for reader in options.readers:
            command = [sys.executable, "-m", "benchmarks.operator.page_reading", "--here", f"--mib={options.mib}"]
            command += ["--kinds", kind, "--readers", reader, *(["--trace"] * options.trace)]
            runs = [
                json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
                for _ in range(options.rounds)
            ]
            print(kind, reader, json.dumps(min(runs, key=lambda run: run["cpu_s"])), flush=True)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
