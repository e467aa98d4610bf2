"""All mutants of one module, as JSON on stdout. Run by the Python of `.venv-mutants`, which has cosmic-ray.

Of cosmic-ray's operators those that change a decision: of its eleven other binary operators for each the opposite, of a
comparison its negation and its neighbour at the boundary. The rest ends as a TypeError, which any test would see.
"""

from __future__ import annotations

import json
import pathlib
import sys

from cosmic_ray.ast import ast_nodes, get_ast_from_path
from cosmic_ray.mutating import mutate_code
from cosmic_ray.plugins import get_operator

_BINARY = (
    ("Add", "Sub"),
    ("Sub", "Add"),
    ("Mul", "Div"),
    ("Div", "Mul"),
    ("FloorDiv", "Mul"),
    ("Mod", "Mul"),
    ("Pow", "Mul"),
    ("BitOr", "BitAnd"),
    ("BitAnd", "BitOr"),
    ("BitXor", "BitAnd"),
    ("LShift", "RShift"),
    ("RShift", "LShift"),
)
_COMPARISONS = (
    ("Eq", "NotEq"),
    ("NotEq", "Eq"),
    ("Is", "IsNot"),
    ("IsNot", "Is"),
    ("Lt", "LtE"),
    ("Lt", "GtE"),
    ("LtE", "Lt"),
    ("LtE", "Gt"),
    ("Gt", "GtE"),
    ("Gt", "LtE"),
    ("GtE", "Gt"),
    ("GtE", "Lt"),
)
OPERATORS = (
    *(f"ReplaceBinaryOperator_{old}_{new}" for old, new in _BINARY),
    *(f"ReplaceComparisonOperator_{old}_{new}" for old, new in _COMPARISONS),
    "ReplaceUnaryOperator_Delete_Not",
    "ReplaceUnaryOperator_Delete_USub",
    "AddNot",
    "ReplaceTrueWithFalse",
    "ReplaceFalseWithTrue",
    "ReplaceAndWithOr",
    "ReplaceOrWithAnd",
    "ReplaceBreakWithContinue",
    "ReplaceContinueWithBreak",
    "ExceptionReplacer",
    "NumberReplacer",
    "RemoveDecorator",
    "ZeroIterationForLoop",
)


def main(path: pathlib.Path) -> None:
    """Each with its operator and how many places of that operator come before, the line from 1, and the whole text."""
    text = path.read_text()
    nodes = list(ast_nodes(get_ast_from_path(path)))
    made = []
    for name in OPERATORS:
        operator = get_operator(f"core/{name}")()
        places = [start for node in nodes for start, _ in operator.mutation_positions(node)]
        for occurrence, (line, _) in enumerate(places):
            mutated = mutate_code(text, operator, occurrence)
            made.append({"operator": name, "occurrence": occurrence, "line": line, "text": mutated})
    json.dump(made, sys.stdout)


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]))
