"""What a window shows of executors by the key groups that stayed on them: each task against its usual part."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

import numpy as np

from streamjob_planners.arrays import BoolArray, FloatArray
from streamjob_planners.batch.evidence import TaskEvidence, TaskWindow, with_window
from streamjob_planners.capacity import pace
from streamjob_planners.capacity.pace import Pace, Seen
from streamjob_planners.capacity.window import Window

LEAST_PART = 1e-4
"""Part of its operator's seconds below which a key group says nothing of its executor."""


def seen(known: TaskEvidence, window: TaskWindow, still: BoolArray) -> Seen:
    """Key groups against their usual parts, those left out that are too small, have moved, or have no executor.

    `still`: groups that did not move within the window, (n_groups,).
    """
    expected_s, error_s = known.tasks(window.operator, window.task_s)
    usual_s = np.maximum(expected_s, 1e-12)
    least_s = LEAST_PART * float(expected_s.sum())
    rows = still & (window.owner >= 0) & (expected_s > least_s) & (window.task_s > least_s)
    base = (error_s / usual_s) ** 2
    return Seen(
        executor=window.owner[rows],
        off=np.log(window.task_s[rows] / usual_s[rows]),
        sample_variance=(base * np.array(known.batches) / window.batches)[rows],
        base_variance=base[rows],
    )


def speeds_of(names: tuple[str, ...], paces: Mapping[str, Pace]) -> FloatArray:
    """Speed of each of these executors, 1.0 where nothing else is known, (n_executors,)."""
    return np.array([paces[one].speed if one in paces else 1.0 for one in names], dtype=np.float64)


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class OwnGroups:
    """Speeds by own key groups (decision 0019), by windows, as the controller where no batches are told."""

    tasks: TaskEvidence | None = None
    paces: Mapping[str, Pace] = dataclasses.field(default_factory=dict)

    def observed(self, window: Window) -> OwnGroups:
        """After one more window; one in which an executor is first suspected teaches nothing about key groups."""
        if window.operator.size == 0:
            return self
        told = window.tasks(self.speeds(window.executors))
        known = self.tasks
        if known is None or known.groups != told.groups:
            return dataclasses.replace(self, tasks=with_window(None, told))
        found = pace.with_window(self.paces, window.executors, seen(known, told, ~window.moved))
        after = dataclasses.replace(self, paces=found.by_executor)
        if found.suspected:
            return after
        corrected = window.tasks(after.speeds(window.executors))
        return dataclasses.replace(after, tasks=with_window(known, corrected))

    def speeds(self, executors: tuple[str, ...]) -> FloatArray:
        """Speed of each, (n_executors,)."""
        return speeds_of(executors, self.paces)
