"""What is loaded is not looked through for cycles again and again, and cycles are found all the same."""

from __future__ import annotations

import json
import subprocess
import sys
import textwrap

import pytest

SCRIPT = """
import gc, json, sys, weakref
import streamjob_operator.kube.process.main
from streamjob_operator.kube.process.collector import settle

if sys.argv[1] == "settled":
    settle()
answer = json.dumps([{"metric": {"partition": str(at)}, "values": [[at, "1"]] * 12} for at in range(800)])
before = gc.get_stats()[2]["collections"]
for _ in range(100):
    json.loads(answer)
whole = gc.get_stats()[2]["collections"] - before

class Knot:
    def __init__(self):
        self.itself = self

first = weakref.ref(Knot())
for _ in range(300_000):
    Knot()
print(json.dumps({"whole": whole, "found": first() is None}))
"""


@pytest.mark.parametrize("how", ["settled", "as it comes"])
def test_documents_that_are_gone_in_a_moment_are_no_news(how: str) -> None:
    command = [sys.executable, "-c", textwrap.dedent(SCRIPT), how]
    told = json.loads(subprocess.run(command, capture_output=True, check=True, text=True, timeout=120).stdout)
    assert told["found"]
    assert (told["whole"] == 0) == (how == "settled")
