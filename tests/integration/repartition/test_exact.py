"""Real queries, stopped, spread over another number of key groups, started again: exact, or as they were."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from queries import KINDS, Distinct, Sums, run

from streamjob_agent.repartition.engine import SparkEngine
from streamjob_agent.repartition.hadoop import HadoopFiles
from streamjob_agent.repartition.journal import Stage
from streamjob_agent.repartition.operation import Change
from streamjob_agent.repartition.values import Refused

pytestmark = pytest.mark.spark


class Crash(BaseException):
    pass


class DyingFiles(HadoopFiles):
    """Die at a step that changes something, as a process does."""

    def __init__(self, session: Any, dies_at: int) -> None:
        super().__init__(session)
        self._left = dies_at

    def _step(self) -> None:
        if self._left <= 0:
            raise Crash
        self._left -= 1

    def rename(self, source: str, target: str) -> None:
        self._step()
        super().rename(source, target)

    def delete(self, path: str) -> None:
        self._step()
        super().delete(path)


def change(spark: Any, checkpoint: Path, files: HadoopFiles | None = None) -> Change:
    files = files or HadoopFiles(spark)
    return Change(files=files, engine=SparkEngine(spark), checkpoint=files.qualified(str(checkpoint)), tell=print)


def go_on(spark: Any, query: Any, checkpoint: Path) -> None:
    query.add()
    run(query.frame(spark), checkpoint, query.mode, query.keep)
    assert query.got == query.expected()


def folders(checkpoint: Path) -> set[str]:
    return {one.name for one in (checkpoint / "state" / "0").iterdir() if one.name.isdigit()}


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_a_query_goes_on_exactly_with_more_key_groups_and_with_fewer(spark: Any, tmp_path: Path, kind: str) -> None:
    query, checkpoint = KINDS[kind](tmp_path), tmp_path / "checkpoint"
    go_on(spark, query, checkpoint)
    for wanted in (8, 4):
        change(spark, checkpoint).run(wanted)
        assert folders(checkpoint) == {str(group) for group in range(wanted)}
        assert change(spark, checkpoint).stage() is Stage.WAITING
        go_on(spark, query, checkpoint)
        assert change(spark, checkpoint).clean()


def test_going_back_is_exact(spark: Any, tmp_path: Path) -> None:
    query, checkpoint = Sums(tmp_path), tmp_path / "checkpoint"
    go_on(spark, query, checkpoint)
    change(spark, checkpoint).run(8)
    change(spark, checkpoint).undo()
    assert folders(checkpoint) == {"0", "1", "2", "3"}
    go_on(spark, query, checkpoint)


# Before the barrier, while no state is in its place, and with the barrier alone left to be taken away.
DIES_AT = [step if step in (1, 3, 6) else pytest.param(step, marks=pytest.mark.long) for step in range(7)]


@pytest.mark.parametrize("dies_at", DIES_AT)
def test_a_query_after_a_crash_is_exact_or_does_not_start(spark: Any, tmp_path: Path, dies_at: int) -> None:
    """The moves of putting state in its place are the last ones: it dies before each of them in turn."""
    query, checkpoint = Sums(tmp_path), tmp_path / "checkpoint"
    go_on(spark, query, checkpoint)
    with pytest.raises(Crash):
        change(spark, checkpoint, DyingFiles(spark, dies_at)).run(8)
    if change(spark, checkpoint).stage() is not Stage.HALFWAY:
        go_on(spark, query, checkpoint)
        return
    query.add()
    with pytest.raises(Exception, match="99999"):
        run(query.frame(spark), checkpoint, query.mode, query.keep)
    change(spark, checkpoint).run(8)
    go_on(spark, query, checkpoint)
    assert len(folders(checkpoint)) == 8


def test_what_spark_does_not_support_leaves_the_query_as_it_was(
    spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    query, checkpoint = Sums(tmp_path), tmp_path / "checkpoint"
    go_on(spark, query, checkpoint)
    with pytest.raises(Refused, match="that is how many there are now"):
        change(spark, checkpoint).run(4)
    real = SparkEngine.repartition

    def fails_at_last(self: SparkEngine, checkpoint: str, key_groups: int, form: str) -> None:
        real(self, checkpoint, key_groups, form)
        raise Refused("an injected failure")

    monkeypatch.setattr(SparkEngine, "repartition", fails_at_last)
    with pytest.raises(Refused, match="injected"):
        change(spark, checkpoint).run(8)
    assert change(spark, checkpoint).stage() is Stage.NONE
    go_on(spark, query, checkpoint)
    assert len(folders(checkpoint)) == 4


def test_spark_s_file_sink_cannot_go_on(spark: Any, tmp_path: Path) -> None:
    """Known and told: it wants a record of each batch, and the change is a batch that it never sees."""
    query, checkpoint = Distinct(tmp_path), tmp_path / "checkpoint"

    def go_on(files: int) -> None:
        query.feed.add(files)
        writer = query.frame(spark).writeStream.format("json").option("checkpointLocation", str(checkpoint))
        running = writer.option("path", str(tmp_path / "out")).trigger(availableNow=True).start()
        assert running.awaitTermination(180)

    spark.conf.set("spark.sql.streaming.fileSink.log.compactInterval", "3")
    try:
        go_on(1)
        change(spark, checkpoint).run(8)
        with pytest.raises(Exception, match=r"Unable to find batch .*_spark_metadata/1"):
            go_on(4)
    finally:
        spark.conf.unset("spark.sql.streaming.fileSink.log.compactInterval")
