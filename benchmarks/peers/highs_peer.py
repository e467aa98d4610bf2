"""HiGHS on the full integer program, starting from today's assignment."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import highspy
import numpy as np
from benchmarks.peers.instance import Incumbent, Instance

THREADS = 2


def prepare(instance: Instance, incumbent: Incumbent) -> Callable[[float], None]:
    """Variables: x of group k on node i at k * n_nodes + i, and d last."""
    highs = highspy.Highs()
    highs.setOptionValue("output_flag", False)
    highs.setOptionValue("threads", THREADS)
    highs.passModel(_program(instance))
    start = highspy.HighsSolution()
    start.col_value = _columns(instance)
    highs.setSolution(start)

    def found(event: Any) -> None:
        incumbent.offer(_placement(instance, np.asarray(event.data_out.mip_solution)))

    highs.cbMipImprovingSolution += found
    return functools.partial(_run, highs, instance, incumbent)


def _run(highs: highspy.Highs, instance: Instance, incumbent: Incumbent, deadline_s: float) -> None:
    highs.setOptionValue("time_limit", deadline_s)
    highs.solve()
    values = np.asarray(highs.getSolution().col_value)
    if values.size > instance.cells:
        incumbent.offer(_placement(instance, values))


def _placement(instance: Instance, values: np.ndarray) -> np.ndarray:
    return values[: instance.cells].reshape(-1, instance.n_nodes).argmax(axis=1)


def _columns(instance: Instance) -> np.ndarray:
    chosen = np.zeros((instance.load.size, instance.n_nodes))
    chosen[np.arange(instance.load.size), instance.node_of] = 1.0
    loads = np.bincount(instance.node_of, weights=instance.load, minlength=instance.n_nodes)
    return np.append(chosen.ravel(), np.abs(loads - instance.mean).max())


def _program(instance: Instance) -> highspy.HighsLp:
    """Rows: each group on one node; each node at most mean + d; at least mean - d; groups that must stay home."""
    nodes, groups, cells = instance.n_nodes, instance.load.size, instance.cells
    cell = np.arange(cells)
    home = np.arange(groups) * nodes + instance.node_of
    d = np.full(nodes, cells)
    rows = np.concatenate(
        (
            cell // nodes,
            groups + cell % nodes,
            groups + np.arange(nodes),
            groups + nodes + cell % nodes,
            groups + nodes + np.arange(nodes),
            np.full(groups, groups + 2 * nodes),
        )
    )
    columns = np.concatenate((cell, cell, d, cell, d, home))
    loads = np.repeat(instance.load, nodes)
    ones = np.ones(nodes)
    values = np.concatenate((np.ones(cells), loads, -ones, loads, ones, np.ones(groups)))
    order = np.lexsort((rows, columns))
    infinity = highspy.kHighsInf
    program = highspy.HighsLp()
    program.num_col_, program.num_row_ = cells + 1, groups + 2 * nodes + 1
    program.col_cost_ = np.append(np.zeros(cells), 1.0)
    program.col_lower_ = np.zeros(cells + 1)
    program.col_upper_ = np.append(np.ones(cells), infinity)
    mean = np.full(nodes, instance.mean)
    never, always = np.full(nodes, -infinity), np.full(nodes, infinity)
    program.row_lower_ = np.concatenate((np.ones(groups), never, mean, [groups - instance.max_moves]))
    program.row_upper_ = np.concatenate((np.ones(groups), mean, always, [infinity]))
    program.a_matrix_.format_ = highspy.MatrixFormat.kColwise
    program.a_matrix_.start_ = np.searchsorted(columns[order], np.arange(cells + 2)).astype(np.int32)
    program.a_matrix_.index_ = rows[order].astype(np.int32)
    program.a_matrix_.value_ = values[order]
    program.integrality_ = [highspy.HighsVarType.kInteger] * cells + [highspy.HighsVarType.kContinuous]
    return program
