"""An image made by buildah: what it is called, how it is built, and the archive in the cache that it is kept in."""

from __future__ import annotations

import dataclasses
import hashlib
import os
import subprocess
from collections.abc import Iterable, Mapping
from pathlib import Path

from e2e.cluster.binary import cache

CERTIFICATES = Path("/etc/ssl/certs/ca-certificates.crt")
OCI, DOCKER = "oci-archive", "docker-archive"


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


def build(image: Image, context: Path, arguments: Mapping[str, str] | None = None, target: str | None = None) -> None:
    """Make it and keep it in its archive; raises RuntimeError."""
    make(image, context, arguments, target)
    keep(image)


def make(image: Image, context: Path, arguments: Mapping[str, str] | None = None, target: str | None = None) -> None:
    """Make it in buildah's store; raises RuntimeError. `target` is a stage of the context's Dockerfile."""
    command = ["buildah", "bud", "--isolation", "chroot", "--layers", "--quiet", "--tag", image.tag]
    command += [part for one in _trust() for part in one]
    command += [f"--build-arg={name}={value}" for name, value in (arguments or {}).items()]
    command += [f"--target={target}"] if target else []
    run(*command, str(context))


def keep(image: Image, form: str = OCI) -> None:
    """Write its archive, and forget those of older images of its name; raises RuntimeError."""
    image.archive.parent.mkdir(parents=True, exist_ok=True)
    temporary = image.archive.with_suffix(f".{os.getpid()}.tmp")
    run("buildah", "push", "--quiet", "--disable-compression", image.tag, f"{form}:{temporary}:{image.tag}")
    os.replace(temporary, image.archive)
    for older in image.archive.parent.glob(f"{image.name}-*.tar"):
        if older != image.archive:
            older.unlink()


def loaded(image: Image) -> str:
    """Its tag, after making sure that buildah has it; raises RuntimeError."""
    known = subprocess.run(["buildah", "inspect", "--type=image", image.tag], capture_output=True, check=False)
    if known.returncode:
        run("buildah", "pull", "--quiet", f"{OCI}:{image.archive}")
    return image.tag


def contents(paths: Iterable[Path], root: Path) -> Iterable[str | bytes]:
    """Names below `root` and contents of the files of these paths, for a key."""
    for path in paths:
        for file in sorted(path.rglob("*")) if path.is_dir() else [path]:
            if file.is_file() and "__pycache__" not in file.parts:
                yield str(file.relative_to(root))
                yield file.read_bytes()


def key_of(*parts: str | bytes) -> str:
    """What stands for all of these parts: twelve digits of a hash."""
    digest = hashlib.sha256()
    for part in parts:
        text = part.encode() if isinstance(part, str) else part
        digest.update(len(text).to_bytes(8, "big") + text)
    return digest.hexdigest()[:12]


def run(*command: str) -> None:
    """Run it to its end; raises RuntimeError with the end of what it said."""
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{' '.join(command)} failed:\n{(done.stdout + done.stderr)[-3000:]}")


def _trust() -> Iterable[tuple[str, ...]]:
    """Where this machine has certificates of its own (a proxy's), pip inside the build must trust them, too."""
    if os.environ.get("PIP_CERT") and CERTIFICATES.exists():
        yield ("--volume", f"{CERTIFICATES}:{CERTIFICATES}:ro")
        yield ("--env", f"PIP_CERT={CERTIFICATES}", "--unsetenv", "PIP_CERT")
