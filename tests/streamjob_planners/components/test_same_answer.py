"""The same graph gives the same plan in every process: sets of names are in another order in each."""

from __future__ import annotations

import os
import subprocess
import sys

PROGRAM = """
from streamjob_planners.components.graph import OperatorGraph, Stream
from streamjob_planners.components.labels import least_communication
from streamjob_planners.components.mwsc import MwscParams, mwsc_plan

names = ("vehicle", "segment", "direction", "lane")
keys = tuple(frozenset((names[i % 4], names[(i * i + 1) % 4], names[(i // 3) % 4])) for i in range(24))
streams = tuple(Stream(source=i, target=j, load=1.0) for i in range(24) for j in range(i + 1, min(24, i + 5)))
graph = OperatorGraph(keys=keys, streams=streams)
found = mwsc_plan(graph, lambda members: 0.1, MwscParams(most=500, effort=0.05))
print([sorted(one) for one in found.components], [sorted(one) for one in least_communication(graph, 0.05)[0]])
"""


def told(hash_seed: str) -> str:
    environment = {**os.environ, "PYTHONHASHSEED": hash_seed}
    command = [sys.executable, "-c", PROGRAM]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=True, timeout=120).stdout


def test_the_plan_does_not_depend_on_the_order_of_sets() -> None:
    assert len({told(seed) for seed in ("1", "2", "3")}) == 1
