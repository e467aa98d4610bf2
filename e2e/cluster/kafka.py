"""Kafka from Maven's repository: the jars of a broker and of Spark's Kafka source, in the cache by what was asked for.

`python -m e2e.cluster.kafka` fetches them (64 MB, two minutes) and prints where they are.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

from e2e.cluster.binary import cache

WANTED = Path(__file__).parent / "kafka_jars"
BROKER, CONNECTOR = "broker", "connector"
HOW_TO_GET = "no Kafka: its jars come by Maven (Debian: apt-get install maven)"


def get(part: str) -> Path:
    """The folder with the part's jars, fetched where it is not there; raises RuntimeError when it cannot be."""
    wanted = WANTED / f"{part}.xml"
    folder = cache() / f"kafka-{part}-{hashlib.sha256(wanted.read_bytes()).hexdigest()[:12]}"
    if not folder.exists():
        _fetch(wanted, folder)
    return folder


def _fetch(wanted: Path, folder: Path) -> None:
    program = shutil.which("mvn")
    if program is None:
        raise RuntimeError(HOW_TO_GET)
    cache().mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=cache()) as temporary:
        jars = Path(temporary, "jars")
        command = [program, "-q", "-B", "-f", str(wanted), "dependency:copy-dependencies", f"-DoutputDirectory={jars}"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            raise RuntimeError(f"Maven did not fetch {wanted.name}: {(done.stdout + done.stderr)[-1000:]}")
        os.replace(jars, folder)


def main() -> None:
    """Fetch what is missing and say where it is."""
    for part in (BROKER, CONNECTOR):
        folder = get(part)
        size = sum(jar.stat().st_size for jar in folder.iterdir())
        print(f"{part}: {size / 1e6:.0f} MB, {folder}", flush=True)


if __name__ == "__main__":
    main()
