"""A store that was loaded, or could not be, is let go at once: whoever comes next does not wait for it."""

from __future__ import annotations

import concurrent.futures
import pathlib
from typing import Any

import pytest
from py4j.protocol import Py4JJavaError

from streamjob_agent.spark.source import compile_opening

pytestmark = pytest.mark.spark

PACKAGE = "org.apache.spark.sql.execution.streaming.state"
PROVIDER = "spark.sql.streaming.stateStore.providerClass"
MISSING = 7  # a version that nobody has written


class Borrower:
    """Opens one RocksDB store to read it, in the driver, as executors do."""

    def __init__(self, session: Any, folder: pathlib.Path) -> None:
        context = session.sparkContext
        self.session, self.jvm, self.gateway = session, context._jvm, context._gateway
        opening = compile_opening(context)[0]
        loan = opening.getClassLoader().loadClass(opening.getName().replace("Opening", "Loan"))
        self.take = next(method for method in loan.getDeclaredMethods() if method.getName() == "takeAndReturn")
        self.take.setAccessible(True)
        store = self.java(f"{PACKAGE}.StateStoreId")(str(folder), 0, 0, "default")
        self.id = self.java(f"{PACKAGE}.StateStoreProviderId")(store, self.jvm.java.util.UUID.randomUUID())

    def java(self, name: str) -> Any:
        found = self.jvm
        for part in name.split("."):
            found = getattr(found, part)
        return found

    def arguments(self, version: int) -> list[Any]:
        schema = self.jvm.org.apache.spark.sql.types.StructType.fromDDL("k string")
        state = self.session._jsparkSession.sessionState()
        conf = self.java(f"{PACKAGE}.StateStoreConf")(state.conf(), self.jvm.PythonUtils.toScalaMap({}))
        if self.session.version.startswith("3."):
            return [self.id, schema, schema, 0, version, conf, state.newHadoopConf()]
        keys = self.java(f"{PACKAGE}.NoPrefixKeyStateEncoderSpec")(schema)
        none = self.jvm.scala.Option.empty()
        return [self.id, schema, schema, keys, version, none, none, False, conf, state.newHadoopConf(), False]

    def borrow(self, version: int) -> None:
        self.take.invoke(None, self.array([self.id, self.array(self.arguments(version))]))

    def array(self, values: list[Any]) -> Any:
        array = self.gateway.new_array(self.jvm.java.lang.Object, len(values))
        for place, value in enumerate(values):
            array[place] = value
        return array


def test_a_store_that_could_not_be_loaded_is_there_for_the_next_thread(
    spark_cluster: Any, tmp_path: pathlib.Path
) -> None:
    session = spark_cluster.session
    before = session.conf.get(PROVIDER)
    session.conf.set(PROVIDER, f"{PACKAGE}.RocksDBStateStoreProvider")
    assert session.streams.active == [], "the first look starts Spark's coordinator of stores"
    borrower = Borrower(session, tmp_path)
    try:
        with pytest.raises(Py4JJavaError, match=r"RocksDB\.load"):
            borrower.borrow(MISSING)
        for version in (0, 0):
            with concurrent.futures.ThreadPoolExecutor(1) as other:
                other.submit(borrower.borrow, version).result()
    finally:
        session.conf.set(PROVIDER, before)
        getattr(borrower.java(f"{PACKAGE}.StateStore$"), "MODULE$").stop()
