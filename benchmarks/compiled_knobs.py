"""What each constant of the compiled loops is worth: as `planners_knobs`, whose table tells what the figures mean.

    python -m benchmarks.compiled_knobs                    # every one, 0.1 and 0.5 s
    python -m benchmarks.compiled_knobs --cpu --only split --deadline 0.1

Compiled loops hold their constants, so each line is a process of its own that compiles them anew, into a folder that
goes with it, before anything is measured. A line that was measured is kept (`kept.py`): the program may be stopped, and
goes on where it was.
"""

from __future__ import annotations

import multiprocessing
import os
import sys
import tempfile
from collections.abc import Iterator
from unittest import mock

import numpy as np

from benchmarks.kept import piece
from benchmarks.planners_knobs import FIRST_SEED, Knob, asked, distances, print_table
from streamjob_planners.model import FloatArray

ROOM = "streamjob_planners.kernel."
Values = dict[str, float | int]
"""Names of constants, and what they are set to."""


def knobs() -> Iterator[tuple[str, Values]]:
    """Every one off, or far from where it is; a kind of step that is left out gives its part to the next one."""
    yield "nothing changed (noise)", {}
    yield "steps: none at nodes within their bands", {"FOCUSED": 1.0}
    yield "steps: a quarter at any node", {"FOCUSED": 0.75}
    yield "steps: all groups chosen for their load", {"BY_LOAD": 1.0}
    yield "steps: no group chosen for its load", {"BY_LOAD": 0.0}
    yield "steps: one candidate for each choice", {"SAMPLES": 1}
    yield "steps: twelve candidates for each choice", {"SAMPLES": 12}
    yield "steps: no group searched for", {"SEARCHED": 0.0}
    yield "steps: all groups searched for", {"SEARCHED": 1.0}
    yield "steps: the nearest group of a search", {"BESIDE": 1}
    yield "steps: any of sixteen near groups", {"BESIDE": 8}
    yield "kinds: no shift", {"SHIFTS": 0.0}
    yield "kinds: no swap", {"SWAPS": 0.22}
    yield "kinds: no shift and return", {"SWAPS": 0.52}
    yield "kinds: no replace", {"REPLACES": 0.52}
    yield "kinds: no redirect", {"REDIRECTS": 0.7}
    yield "kinds: no trade", {"TRADES": 0.78}
    yield "kinds: no split", {"SPLITS": 0.86}
    yield "kinds: no merge", {"SPLITS": 1.0}
    yield "kinds: redirected groups never go home", {"ELSEWHERE": 1.0}
    yield "exact exchanges: twelve groups of a node", {"MOST_GROUPS": 12}
    yield "exact exchanges: with ten other nodes", {"MOST_TRIED": 10}
    yield "exact exchanges: saved only where groups came from", {"ANYWHERE": 0.0}


def set_constants(values: Values) -> None:
    """Set them wherever the loops of this process hold them, before any is compiled.

    Raises KeyError for a name that no loop holds.
    """
    rooms = [module for name, module in sys.modules.items() if name.startswith(ROOM)]
    for name, value in values.items():
        holders = [room for room in rooms if hasattr(room, name)]
        if not holders:
            raise KeyError(name)
        for room in holders:
            setattr(room, name, value)


@piece
def reached(
    name: str, values: tuple[tuple[str, float | int], ...], deadlines_s: tuple[float, ...], seeds: int, cpu: int
) -> list[list[float]]:
    """The distances at each deadline with these constants, in a process of its own.

    `name`: of the line, as two lines that change nothing are two measurements; `seeds`: how often each is planned for.
    """
    with (
        tempfile.TemporaryDirectory() as cache,
        mock.patch.dict(os.environ, {"NUMBA_CACHE_DIR": cache}),
        multiprocessing.get_context("spawn").Pool(1) as pool,
    ):
        found = pool.apply(_measure, (dict(values), deadlines_s, range(FIRST_SEED, FIRST_SEED + seeds), bool(cpu)))
    return [one.tolist() for one in found]


def _measure(values: Values, deadlines_s: tuple[float, ...], seeds: range, cpu: bool) -> list[FloatArray]:
    set_constants(values)
    return [distances(Knob(name=""), deadline_s, seeds, cpu=cpu) for deadline_s in deadlines_s]


def main() -> None:
    """Print a line for each."""
    what = asked(__doc__)

    def measured(line: tuple[str, Values]) -> list[FloatArray]:
        name, values = line
        told = tuple(values.items()), tuple(what.deadlines_s), len(what.seeds), int(what.cpu)
        return [np.array(one) for one in reached(name, *told)]

    print_table(what, ((name, (name, values)) for name, values in knobs()), measured, ("", {}))


if __name__ == "__main__":
    main()
