"""Load coefficients of a query graph; what is not linear becomes a variable of its own (sections 3.1, 4.4.2)."""

from __future__ import annotations

import dataclasses
import enum

import numpy as np

from streamjob_planners.model import FloatArray


class Kind(enum.StrEnum):
    """How an operator's load and output depend on its input."""

    LINEAR = "linear"  # both in proportion to the input
    VARYING = "varying"  # its selectivity varies: its output is a variable of its own
    JOIN = "join"  # cost and selectivity are per pair of tuples: the output is a variable, the load in proportion to it


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Operator:
    """One operator.

    Attributes:
        cost: CPU per input tuple, or per pair of a join, >= 0.
        selectivity: output per input tuple, or per pair of a join, >= 0 (above 0 for a join).
        sources: indices of the system's inputs that it reads.
        upstream: indices of the operators that it reads, all before it.
    """

    cost: float
    selectivity: float = 1.0
    sources: tuple[int, ...] = ()
    upstream: tuple[int, ...] = ()
    kind: Kind = Kind.LINEAR


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Linearised:
    """A query graph cut into linear pieces.

    Attributes:
        coefficients: load of each operator per unit of each variable, (n_operators, n_variables).
        output: rate of each operator's output per unit of each variable, (n_operators, n_variables).
        variable_of: the operator whose output each new variable is; the first variables are the system's inputs.
    """

    coefficients: FloatArray
    output: FloatArray
    variable_of: tuple[int, ...]


def linearise(operators: tuple[Operator, ...], n_sources: int) -> Linearised:
    """Loads as linear functions of input rates and as few new variables as possible, one per non-linear output.

    Raises ValueError for an operator that reads one after it, or for a join without output.
    """
    new = tuple(j for j, one in enumerate(operators) if one.kind is not Kind.LINEAR)
    n_variables = n_sources + len(new)
    load = np.zeros((len(operators), n_variables))
    output = np.zeros_like(load)
    for j, one in enumerate(operators):
        _check(j, one, n_sources)
        arriving = np.zeros(n_variables)
        np.add.at(arriving, np.array(one.sources, dtype=np.int64), 1.0)
        arriving += output[list(one.upstream)].sum(axis=0)
        own = np.zeros(n_variables)
        if j in new:
            own[n_sources + new.index(j)] = 1.0
        output[j] = own if j in new else one.selectivity * arriving
        load[j] = own * (one.cost / one.selectivity) if one.kind is Kind.JOIN else one.cost * arriving
    return Linearised(coefficients=load, output=output, variable_of=new)


def streams(operators: tuple[Operator, ...]) -> list[tuple[int, int]]:
    """Every stream between two operators, (from, to)."""
    return [(u, v) for v, one in enumerate(operators) for u in one.upstream]


def _check(index: int, one: Operator, n_sources: int) -> None:
    if any(not 0 <= k < n_sources for k in one.sources):
        raise ValueError(f"sources: operator {index} reads {one.sources}, there are {n_sources}")
    if any(not 0 <= u < index for u in one.upstream):
        raise ValueError(f"upstream: operator {index} reads {one.upstream}, only operators before it can be read")
    if one.kind is Kind.JOIN and one.selectivity <= 0:
        raise ValueError(f"selectivity: join {index} has {one.selectivity}, a number above 0 is needed")
