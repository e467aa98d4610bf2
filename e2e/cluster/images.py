"""The images of the suite, made from Debian's and Python's packages alone: no registry, no container engine.

Each is an OCI archive in the cache, named by what it was made from. `python -m e2e.cluster.images` makes those that are
missing (about six minutes on two cores) and prints their names, sizes and paths.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterable
from pathlib import Path

from e2e.cluster.image import Image, build, contents, key_of, loaded, run
from e2e.cluster.prometheus import HOW_TO_GET
from e2e.cluster.prometheus import get as prometheus_program

ROOT = Path(__file__).parents[2]
SPARK_VERSION = "4.3.0"
_SUITE, _PACKAGES = "bookworm", "ca-certificates,python3-minimal,python3-venv,python3-pip"
_AGENT_SOURCES = ("agent", "pyproject.toml", "constraints.txt", "Dockerfile")
_ROOMS = ("operator", "planners", "simulator", "commands")
_OPERATOR_SOURCES = (*_AGENT_SOURCES, *_ROOMS, "samples/snapshots", "README.md", "LICENSE")
_PAUSE = """FROM scratch
COPY busybox /bin/busybox
ENTRYPOINT ["/bin/busybox", "sh", "-c", "trap 'exit 0' TERM INT; while :; do /bin/busybox sleep 3600 & wait; done"]
"""
_PROMETHEUS = """ARG BASE_IMAGE
FROM ${BASE_IMAGE}
COPY prometheus /bin/prometheus
USER 65534:65534
ENTRYPOINT ["/bin/prometheus"]
"""


def pause() -> Image:
    """What holds a pod's network."""
    image = Image(name="pause", key=key_of(_PAUSE))
    if not image.archive.exists():
        with tempfile.TemporaryDirectory() as folder:
            shutil.copy(shutil.which("busybox") or "/bin/busybox", folder)  # Debian's busybox-static
            Path(folder, "Dockerfile").write_text(_PAUSE, encoding="utf-8")
            build(image, Path(folder))
    return image


def base() -> Image:
    """Debian with Python: stands for the public Python image where no registry can be reached."""
    image = Image(name="debian-python", key=key_of(_SUITE, _PACKAGES))
    if not image.archive.exists():
        with tempfile.TemporaryDirectory(dir="/var/tmp") as folder:
            root = Path(folder, "root")
            run("debootstrap", "--variant=minbase", f"--include={_PACKAGES}", _SUITE, str(root))
            for rest in (*root.glob("var/cache/apt/archives/*.deb"), *root.glob("var/lib/apt/lists/*_*")):
                rest.unlink()
            run("tar", "-C", str(root), "-cf", f"{folder}/root.tar", ".")
            Path(folder, "Dockerfile").write_text("FROM scratch\nADD root.tar /\n", encoding="utf-8")
            shutil.rmtree(root)
            build(image, Path(folder))
    return image


def spark() -> Image:
    """A user's PySpark image, without the agent."""
    under, context = base(), Path(__file__).parent / "spark"
    image = Image(name="user-spark", key=key_of(under.key, SPARK_VERSION, *contents([context], ROOT)))
    if not image.archive.exists():
        build(image, context, {"BASE_IMAGE": loaded(under), "SPARK_VERSION": SPARK_VERSION})
    return image


def prometheus() -> Image:
    """Debian's Prometheus in an image; raises RuntimeError where there is none."""
    under, program = base(), prometheus_program()
    if program is None:
        raise RuntimeError(HOW_TO_GET)
    image = Image(name="prometheus", key=key_of(under.key, _PROMETHEUS, program.read_bytes()))
    if not image.archive.exists():
        with tempfile.TemporaryDirectory() as folder:
            shutil.copy(program, f"{folder}/prometheus")
            Path(folder, "Dockerfile").write_text(_PROMETHEUS, encoding="utf-8")
            build(image, Path(folder), {"BASE_IMAGE": loaded(under)})
    return image


def operator() -> Image:
    """The operator's image, from the project's Dockerfile."""
    return _ours("streamjob-operator", "operator", base(), _OPERATOR_SOURCES)


def agent() -> Image:
    """The user's PySpark image with the agent, from the project's Dockerfile."""
    return _ours("streamjob-agent", "agent", spark(), _AGENT_SOURCES)


def _ours(name: str, target: str, under: Image, sources: Iterable[str]) -> Image:
    image = Image(name=name, key=key_of(under.key, *contents((ROOT / one for one in sources), ROOT)))
    if not image.archive.exists():
        build(image, ROOT, {"BASE_IMAGE": loaded(under)}, target)
    return image


def main() -> None:
    """Make what is missing and say what there is."""
    for make in (pause, base, spark, prometheus, operator, agent):
        image = make()
        print(f"{image.tag}  {image.archive.stat().st_size / 1e6:.0f} MB  {image.archive}", flush=True)


if __name__ == "__main__":
    main()
