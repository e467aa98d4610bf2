"""Descriptions that stand below names in the code."""

from __future__ import annotations

import ast
import enum
import inspect
import textwrap
from collections.abc import Iterable


def member_docs(kind: type[enum.Enum]) -> dict[str, str]:
    """Value of each member of an enumeration, and the text below it; raises ValueError for one without a text."""
    (tree,) = ast.parse(textwrap.dedent(inspect.getsource(kind))).body
    assert isinstance(tree, ast.ClassDef)
    docs = _docs(tree.body)
    silent = [member.name for member in kind if member.name not in docs]
    if silent:
        raise ValueError(f"{kind.__name__}.{silent[0]} has no description")
    return {str(member.value): docs[member.name] for member in kind}


def constant_doc(module: object, name: str) -> str:
    """The text below a constant of a module."""
    return _docs(ast.parse(inspect.getsource(module)).body)[name]  # type: ignore[arg-type]


def _docs(body: Iterable[ast.stmt]) -> dict[str, str]:
    found: dict[str, str] = {}
    name: str | None = None
    for statement in body:
        if isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Name):
            name = statement.targets[0].id
            continue
        text = statement.value.value if isinstance(statement, ast.Expr) and _is_text(statement.value) else None
        if name is not None and text is not None:
            found[name] = " ".join(str(text).split())
        name = None
    return found


def _is_text(expression: ast.expr) -> bool:
    return isinstance(expression, ast.Constant) and isinstance(expression.value, str)
