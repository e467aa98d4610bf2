"""A node image made from registries of packages alone, for an engine that cannot pull kindest/node.

`python -m e2e.kind.node_image` makes it unless it is in the cache, and prints its name.
"""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

from e2e.cluster import binary, images, versions
from e2e.cluster.image import DOCKER, Image, build, contents, keep, key_of, loaded, make
from e2e.kind import programs

HERE = Path(__file__).parent


def get() -> Image:
    """The node image, made unless its archive is there.

    Raises RuntimeError, FileNotFoundError or CalledProcessError.
    """
    node = image(binary.get(), binary.tools())
    if not node.archive.exists():
        with tempfile.TemporaryDirectory(dir="/var/tmp") as folder:
            context = Path(folder)
            _gather(context, HERE / "node", binary.get(), binary.tools())
            (context / "images").mkdir()
            parts, pause = _parts(), images.pause()
            for one in (parts, pause):
                shutil.copy(one.archive, context / "images")
            names = {"PARTS": parts.tag, "PAUSE": pause.tag, "KUBERNETES": versions.wanted().number}
            make(node, context, {"BASE_IMAGE": _base().tag, **names})
        keep(node, DOCKER)
    return node


def image(kube: Path, tools: Path) -> Image:
    """What it is called: by everything that goes into it."""
    sources = contents([HERE / "node", HERE / "parts"], HERE)
    under = (images.base().key, images.pause().key, programs.VERSION)
    return Image(name="kind-node", key=key_of(*under, kube.read_bytes(), tools.read_bytes(), *sources))


def _base() -> Image:
    """kind's own base as far as Debian's packages make it: the stage of that name."""
    under, sources = images.base(), programs.base()
    base = Image(name="kind-base", key=key_of(under.key, programs.VERSION))
    with tempfile.TemporaryDirectory(dir="/var/tmp") as folder:  # Go's own copy is read-only, and buildah keeps modes
        context = Path(folder, "base")
        shutil.copytree(sources, context, copy_function=shutil.copy)
        make(base, context, {"BASE_IMAGE": loaded(under)}, "base")
    return base


def _parts() -> Image:
    under, kube, tools = images.base(), binary.get(), binary.tools()
    key = key_of(under.key, kube.read_bytes(), tools.read_bytes(), *contents([HERE / "parts"], HERE))
    parts = Image(name="kube-parts", key=key)
    if not parts.archive.exists():
        with tempfile.TemporaryDirectory(dir="/var/tmp") as folder:
            _gather(Path(folder), HERE / "parts", kube, tools)
            build(parts, Path(folder), {"BASE_IMAGE": loaded(under)})
    return parts


def _gather(context: Path, sources: Path, kube: Path, tools: Path) -> None:
    shutil.copytree(sources, context, dirs_exist_ok=True)
    shutil.copy(kube, context / "kube")
    shutil.copy(tools, context / "tools")


if __name__ == "__main__":
    print(get().tag)
