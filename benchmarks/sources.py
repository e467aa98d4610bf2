"""What a function is computed from: its own code, what it uses of its module, and the modules of ours behind that."""

from __future__ import annotations

import ast
import functools
import hashlib
import importlib.util
import inspect
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

OURS = ("benchmarks", "streamjob_planners", "streamjob_operator", "streamjob_sim")
PLANNERS = "streamjob_planners"
KEEPING = ("benchmarks.kept", "benchmarks.sources")
"""What keeps results computes none of them."""
REGISTRY = f"{PLANNERS}.registry"
"""It loads planners by their names, which no import shows: whoever asks it depends on all of them."""


@functools.cache
def version(function: Callable[..., object]) -> str:
    """Twelve hex digits that change with the code a function's result comes from; comments and layout do not count."""
    tree = _tree(Path(inspect.getfile(function)))
    tops = {name: node for node in tree.body for name in _names_of(node)}
    used = _used(function.__name__, tops)
    digest = hashlib.sha256()
    for name in sorted(used):
        digest.update(ast.dump(tops[name]).encode())
    imports = [module for name in sorted(used) for module in _imported(tops[name])]
    for path in sorted(behind(imports)):
        digest.update(_digest(path))
    return digest.hexdigest()[:12]


def version_of(files: Iterable[Path]) -> str:
    """The same of whole files."""
    digest = hashlib.sha256()
    for path in sorted(files):
        digest.update(_digest(path))
    return digest.hexdigest()[:12]


def _names_of(node: ast.stmt) -> Iterator[str]:
    """What a statement of a module gives names to."""
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        yield node.name
    elif isinstance(node, ast.Import | ast.ImportFrom):
        yield from ((one.asname or one.name).partition(".")[0] for one in node.names)
    else:
        yield from (one.id for one in ast.walk(node) if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store))


def _used(name: str, tops: dict[str, ast.stmt]) -> set[str]:
    """That name, and all others of the module that it needs, directly or not."""
    found, new = set(), {name}
    while new:
        found |= new
        words = {one.id for top in new for one in ast.walk(tops[top]) if isinstance(one, ast.Name)}
        new = (words & tops.keys()) - found
    return found


def _imported(node: ast.AST) -> Iterator[str]:
    """Modules of ours that a piece of code imports; names from a package may be modules themselves."""
    for one in ast.walk(node):
        if isinstance(one, ast.Import):
            yield from (name.name for name in one.names)
        elif isinstance(one, ast.ImportFrom) and one.module is not None:
            yield from (f"{one.module}.{name.name}" for name in one.names)


def behind(modules: list[str]) -> set[Path]:
    """Files of ours that these modules are, and import, directly or not."""
    found: set[Path] = set()
    new = {path for module in modules for path in _files(module)}
    while new:
        found |= new
        new = {path for file in new for path in imported_by(file)} - found
    return found


@functools.cache
def imported_by(file: Path) -> frozenset[Path]:
    """Files of ours that a file imports itself."""
    return frozenset(path for module in _imported(_tree(file)) for path in _files(module))


@functools.cache
def _files(module: str) -> frozenset[Path]:
    """The file of a module, or of the one that a name is in; none that is not ours."""
    if module.partition(".")[0] not in OURS or module.startswith(KEEPING):
        return frozenset()
    path = _origin(module) or _origin(module.rpartition(".")[0])
    if path is None:
        return frozenset()
    registry = _origin(REGISTRY)
    return frozenset({path, *path.parent.rglob("*.py")}) if path == registry else frozenset({path})


@functools.cache
def _origin(module: str) -> Path | None:
    try:
        spec = importlib.util.find_spec(module)
    except ModuleNotFoundError:
        return None
    return None if spec is None or spec.origin is None else Path(spec.origin)


@functools.cache
def _tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


@functools.cache
def _digest(path: Path) -> bytes:
    return hashlib.sha256(ast.dump(_tree(path)).encode()).digest()
