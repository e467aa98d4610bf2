"""One mutant, which of them can matter, and which are looked at."""

from __future__ import annotations

import ast
import dataclasses
import hashlib
from collections.abc import Iterable, Iterator

_SHAPE = {"frozen", "slots", "kw_only", "strict"}
"""Arguments that refuse mistakes of ours and decide nothing: of dataclasses, and of zip."""
_LOGS = {"log", "logging"}


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Mutant:
    """A module with one change. `occurrence`: places of the same operator before it. `line` counts from 1."""

    operator: str
    occurrence: int
    line: int
    text: str

    @property
    def key(self) -> str:
        """The mutant's name among those of the same text of its module."""
        return f"{self.operator}/{self.occurrence}"


def that_matter(original: str, mutants: Iterable[Mutant]) -> list[Mutant]:
    """Those that Python can read, and whose change is not in annotations, docstrings, `__all__`, log texts, blocks for
    type checkers, or arguments that refuse mistakes of ours."""
    plain = decisive(original)
    return [one for one in mutants if (found := decisive(one.text)) is not None and found != plain]


def decisive(text: str) -> str | None:
    """What of a module can decide anything; None for what is no Python."""
    try:
        compile(text, "mutant", "exec", dont_inherit=True)
    except SyntaxError:
        return None
    return ast.dump(_Decisive().visit(ast.parse(text)))


class _Decisive(ast.NodeTransformer):
    """Leaves out what the rule names."""

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        node.returns = None
        return self.generic_visit(node)

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> ast.AST:
        node.returns = None
        return self.generic_visit(node)

    def visit_arg(self, node: ast.arg) -> ast.AST:
        node.annotation = None
        return node

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST:
        node.annotation = ast.Constant(value=None)
        return self.generic_visit(node)

    def visit_keyword(self, node: ast.keyword) -> ast.AST | None:
        return None if node.arg in _SHAPE else self.generic_visit(node)

    def visit_Assign(self, node: ast.Assign) -> ast.AST | None:
        hidden = any(isinstance(target, ast.Name) and target.id == "__all__" for target in node.targets)
        return None if hidden else self.generic_visit(node)

    def visit_Expr(self, node: ast.Expr) -> ast.AST | None:
        text = isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
        return None if text or _is_log(node.value) else self.generic_visit(node)

    def visit_If(self, node: ast.If) -> ast.AST | None:
        return None if "TYPE_CHECKING" in ast.unparse(node.test) else self.generic_visit(node)


def _is_log(node: ast.expr) -> bool:
    called = node.func if isinstance(node, ast.Call) else None
    return isinstance(called, ast.Attribute) and isinstance(called.value, ast.Name) and called.value.id in _LOGS


def sampled(path: str, mutants: Iterable[Mutant], n: int | None, seed: int) -> list[Mutant]:
    """`n` of the mutants of the module at `path`, all without `n`. A larger sample holds the smaller ones."""
    drawn = sorted(mutants, key=lambda one: hashlib.sha256(f"{seed} {path} {one.key}".encode()).digest())
    return sorted(drawn[:n], key=lambda one: (one.line, one.key))


def change(original: str, mutated: str) -> tuple[str, str]:
    """The first line that differs, as it is and as it becomes; without the blanks around."""
    for old, new in zip(original.splitlines(), mutated.splitlines(), strict=False):
        if old != new:
            return old.strip(), " ".join(new.split())
    return "", ""


def statement(text: str, line: int) -> range:
    """The lines of the innermost statement at `line`; empty where it is part of a definition, which importing runs."""
    held: list[ast.stmt] = []
    found = _holding(ast.parse(text), line)
    while found is not None:
        held.append(found)
        found = _holding(found, line)
    runs_later = any(isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef) for one in held[:-1])
    if not runs_later or isinstance(held[-1], ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return range(0)
    return range(held[-1].lineno, (held[-1].end_lineno or held[-1].lineno) + 1)


def _holding(node: ast.AST, line: int) -> ast.stmt | None:
    """The statement right within `node` that has this line."""
    found = _statements(node)
    return next((one for one in found if one.lineno <= line <= (one.end_lineno or one.lineno)), None)


def _statements(node: ast.AST) -> Iterator[ast.stmt]:
    """Statements below `node` with no statement between: an `except` or a `case` is none."""
    for one in ast.iter_child_nodes(node):
        if isinstance(one, ast.stmt):
            yield one
        else:
            yield from _statements(one)
