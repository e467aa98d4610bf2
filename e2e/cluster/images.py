"""The images of the suite, made from Debian's and Python's packages alone: no registry, no container engine.

Each is an OCI archive in the cache, named by what it was made from. `python -m e2e.cluster.images` makes those that are
missing (about six minutes on two cores) and prints their names, sizes and paths.
"""

from __future__ import annotations

import dataclasses
import hashlib
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path

from e2e.cluster.binary import cache
from e2e.cluster.prometheus import HOW_TO_GET
from e2e.cluster.prometheus import get as prometheus_program

ROOT = Path(__file__).parents[2]
SPARK_VERSION = "4.3.0"
CERTIFICATES = Path("/etc/ssl/certs/ca-certificates.crt")
_SUITE, _PACKAGES = "bookworm", "ca-certificates,python3-minimal,python3-venv,python3-pip"
_AGENT_SOURCES = ("agent", "pyproject.toml", "constraints.txt", "Dockerfile")
_OPERATOR_SOURCES = (*_AGENT_SOURCES, "operator", "planners", "samples/snapshots", "README.md", "LICENSE")
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


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Image:
    """One image. `key` stands for all that it is made from: the same key, the same image."""

    name: str
    key: str

    @property
    def tag(self) -> str:
        """Its name for buildah and for pods."""
        return f"localhost/{self.name}:{self.key}"

    @property
    def archive(self) -> Path:
        """Where it lies once it is made."""
        return cache() / "images" / f"{self.name}-{self.key}.tar"


def tagged(tag: str) -> Image:
    """The image of a tag of ours."""
    name, _, key = tag.removeprefix("localhost/").partition(":")
    return Image(name=name, key=key)


def pause() -> Image:
    """What holds a pod's network."""
    image = Image(name="pause", key=_key(_PAUSE))
    if not image.archive.exists():
        with tempfile.TemporaryDirectory() as folder:
            shutil.copy(shutil.which("busybox") or "/bin/busybox", folder)  # Debian's busybox-static
            Path(folder, "Dockerfile").write_text(_PAUSE, encoding="utf-8")
            _build(image, Path(folder))
    return image


def base() -> Image:
    """Debian with Python: stands for the public Python image where no registry can be reached."""
    image = Image(name="debian-python", key=_key(_SUITE, _PACKAGES))
    if not image.archive.exists():
        with tempfile.TemporaryDirectory(dir="/var/tmp") as folder:
            root = Path(folder, "root")
            _run("debootstrap", "--variant=minbase", f"--include={_PACKAGES}", _SUITE, str(root))
            for rest in (*root.glob("var/cache/apt/archives/*.deb"), *root.glob("var/lib/apt/lists/*_*")):
                rest.unlink()
            _run("tar", "-C", str(root), "-cf", f"{folder}/root.tar", ".")
            Path(folder, "Dockerfile").write_text("FROM scratch\nADD root.tar /\n", encoding="utf-8")
            shutil.rmtree(root)
            _build(image, Path(folder))
    return image


def spark() -> Image:
    """A user's PySpark image, without the agent."""
    under, context = base(), Path(__file__).parent / "spark"
    image = Image(name="user-spark", key=_key(under.key, SPARK_VERSION, *_contents([context])))
    if not image.archive.exists():
        _build(image, context, {"BASE_IMAGE": _loaded(under), "SPARK_VERSION": SPARK_VERSION})
    return image


def prometheus() -> Image:
    """Debian's Prometheus in an image; raises RuntimeError where there is none."""
    under, program = base(), prometheus_program()
    if program is None:
        raise RuntimeError(HOW_TO_GET)
    image = Image(name="prometheus", key=_key(under.key, _PROMETHEUS, program.read_bytes()))
    if not image.archive.exists():
        with tempfile.TemporaryDirectory() as folder:
            shutil.copy(program, f"{folder}/prometheus")
            Path(folder, "Dockerfile").write_text(_PROMETHEUS, encoding="utf-8")
            _build(image, Path(folder), {"BASE_IMAGE": _loaded(under)})
    return image


def operator() -> Image:
    """The operator's image, from the project's Dockerfile."""
    return _ours("streamjob-operator", "operator", base(), _OPERATOR_SOURCES)


def agent() -> Image:
    """The user's PySpark image with the agent, from the project's Dockerfile."""
    return _ours("streamjob-agent", "agent", spark(), _AGENT_SOURCES)


def _ours(name: str, target: str, under: Image, sources: Iterable[str]) -> Image:
    image = Image(name=name, key=_key(under.key, *_contents(ROOT / one for one in sources)))
    if not image.archive.exists():
        _build(image, ROOT, {"BASE_IMAGE": _loaded(under)}, target)
    return image


def _build(image: Image, context: Path, arguments: Mapping[str, str] | None = None, target: str | None = None) -> None:
    command = ["buildah", "bud", "--isolation", "chroot", "--layers", "--quiet", "--tag", image.tag]
    command += [part for one in _trust() for part in one]
    command += [f"--build-arg={name}={value}" for name, value in (arguments or {}).items()]
    command += [f"--target={target}"] if target else []
    _run(*command, str(context))
    image.archive.parent.mkdir(parents=True, exist_ok=True)
    temporary = image.archive.with_suffix(f".{os.getpid()}.tmp")
    _run("buildah", "push", "--quiet", "--disable-compression", image.tag, f"oci-archive:{temporary}:{image.tag}")
    os.replace(temporary, image.archive)
    for older in image.archive.parent.glob(f"{image.name}-*.tar"):
        if older != image.archive:
            older.unlink()


def _trust() -> Iterable[tuple[str, ...]]:
    """Where this machine has certificates of its own (a proxy's), pip inside the build must trust them, too."""
    if os.environ.get("PIP_CERT") and CERTIFICATES.exists():
        yield ("--volume", f"{CERTIFICATES}:{CERTIFICATES}:ro")
        yield ("--env", f"PIP_CERT={CERTIFICATES}", "--unsetenv", "PIP_CERT")


def _loaded(image: Image) -> str:
    """Its tag, after making sure that buildah has it."""
    known = subprocess.run(["buildah", "inspect", "--type=image", image.tag], capture_output=True, check=False)
    if known.returncode:
        _run("buildah", "pull", "--quiet", f"oci-archive:{image.archive}")
    return image.tag


def _contents(paths: Iterable[Path]) -> Iterable[str | bytes]:
    for path in paths:
        for file in sorted(path.rglob("*")) if path.is_dir() else [path]:
            if file.is_file() and "__pycache__" not in file.parts:
                yield str(file.relative_to(ROOT))
                yield file.read_bytes()


def _key(*parts: str | bytes) -> str:
    digest = hashlib.sha256()
    for part in parts:
        text = part.encode() if isinstance(part, str) else part
        digest.update(len(text).to_bytes(8, "big") + text)
    return digest.hexdigest()[:12]


def _run(*command: str) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{' '.join(command)} failed:\n{(done.stdout + done.stderr)[-3000:]}")


def main() -> None:
    """Make what is missing and say what there is."""
    for make in (pause, base, spark, prometheus, operator, agent):
        image = make()
        print(f"{image.tag}  {image.archive.stat().st_size / 1e6:.0f} MB  {image.archive}", flush=True)


if __name__ == "__main__":
    main()
