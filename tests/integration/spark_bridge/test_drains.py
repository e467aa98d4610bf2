"""What is told of key groups in the middle of a batch, found by what has changed, beside a walk through all of them."""

from __future__ import annotations

import importlib.resources
import pathlib
import random
import uuid
from typing import Any

import pytest

from streamjob_agent import spark
from streamjob_agent.spark import codec, source

pytestmark = pytest.mark.spark
PARTITIONS, STEPS = 6, 400


@pytest.fixture(scope="module")
def made(spark_cluster: Any) -> Any:
    """The constructor of Drains, compiled together with the probe."""
    context = spark_cluster.session.sparkContext
    jvm, gateway = context._jvm, context._gateway
    package = f"io.streamjob.tests.v{uuid.uuid4().hex}"
    own = pathlib.Path(__file__).with_name("Drains.java").read_text()
    compiler = jvm.org.codehaus.janino.SimpleCompiler()
    compiler.setParentClassLoader(jvm.java.lang.Thread.currentThread().getContextClassLoader())
    compiler.cook(source.merged(package, [*source.java_files(importlib.resources.files(spark).joinpath("probe")), own]))
    types = gateway.new_array(jvm.java.lang.Class, 1)
    types[0] = jvm.java.lang.Integer.TYPE
    constructor = compiler.getClassLoader().loadClass(f"{package}.Drains").getDeclaredConstructor(types)
    arguments = gateway.new_array(jvm.java.lang.Object, 1)
    arguments[0] = PARTITIONS
    return lambda: constructor.newInstance(arguments)


@pytest.mark.parametrize("seed", range(5))
def test_a_drain_in_mid_batch_tells_what_a_walk_through_all_groups_would(made: Any, seed: int) -> None:
    draws, mine, whole = random.Random(seed), made(), made()
    told = 0
    for _ in range(STEPS):
        what = draws.choices(("task", "drain", "close", "abandon"), (12, 4, 1, 1))[0]
        if what == "task":  # of a stage's first attempt, or a later one; on its executor, or a thief's
            task = (draws.randrange(2), draws.randrange(PARTITIONS), draws.choice("1123"), draws.randrange(50))
            rows = draws.randrange(-1, 3)
            mine.task(*task, rows)
            whole.task(*task, rows)
        elif what == "drain":
            found, expected = codec.read_usage(mine.drain(False)), codec.read_usage(whole.drain(True))
            assert set(found.groups.get("q", ())) == set(expected.groups.get("q", ()))
            assert len(found.groups.get("q", ())) == len(expected.groups.get("q", ()))
            assert mine.count() == whole.count()
            told += len(found.groups.get("q", ()))
        elif what == "close":
            mine.close()
            whole.close()
        else:
            assert mine.abandon() == whole.abandon()
    assert told > STEPS / 10
