"""Jobs one after another on one Spark; outcomes are kept between runs, so that a page may be made in pieces."""

from __future__ import annotations

import contextlib
import dataclasses
import json
import pathlib
import shutil
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from jobs.around import ASKED
from jobs.job import Job
from jobs.reading import FILES, KAFKA
from jobs.session import local_cluster
from jobs.sources import Files, Open
from jobs.trial import Kind, Outcome, Shape, run

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from jobs.moves import Mover


RESULTS = {FILES: "results.json", KAFKA: "results-kafka.json"}
"""Of each source."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Amounts:
    """How much of a job is run: batches of about `rows` rows, and key groups of each operator with state.

    ValueError where there would be none.
    """

    seed: int
    rows: int
    batches: int
    key_groups: int

    def __post_init__(self) -> None:
        for name in ("rows", "batches", "key_groups"):
            if (given := getattr(self, name)) < 1:
                raise ValueError(f"{name.replace('_', '-')}: {given} given; it is 1 or more.")
        if self.seed < 0:
            raise ValueError(f"seed: {self.seed} given; it is 0 or more.")


def run_all(
    jobs: Sequence[Job],
    amounts: Amounts,
    folder: pathlib.Path,
    moved: bool,
    open_source: Open = Files,
    jars: pathlib.Path | None = None,
    resume: bool = False,
) -> Iterator[Outcome]:
    """Each job once; with `moved` under StreamJob's agent, and half of its key groups on the move after each batch.

    Sources other than files may want `jars`, a folder. With `resume` jobs go on from the checkpoint that they have.
    """
    with local_cluster(amounts.key_groups, jars) as spark, contextlib.ExitStack() as stack:
        mover = None
        if moved:
            from jobs.moves import moving  # here: without it nothing of StreamJob is needed

            mover = stack.enter_context(moving(spark, amounts.seed, folder / ASKED))
        for job in jobs:
            if not resume:
                shutil.rmtree(folder / job.name, ignore_errors=True)
            yield _once(spark, job, amounts, (folder / job.name).absolute(), mover, open_source)


def _once(
    spark: SparkSession, job: Job, amounts: Amounts, folder: pathlib.Path, mover: Mover | None, open_source: Open
) -> Outcome:
    return run(spark, job, folder, amounts.seed, amounts.rows, amounts.batches, mover, open_source=open_source)


def keep(outcome: Outcome, file: pathlib.Path) -> None:
    """Write it into the file, over that of the same job and kind."""
    found = {**read(file), outcome.kind: outcome}
    file.parent.mkdir(parents=True, exist_ok=True)
    draft = file.with_suffix(".draft")
    draft.write_text(json.dumps([dataclasses.asdict(one) for one in found.values()], indent=1) + "\n", encoding="utf-8")
    draft.replace(file)


def read(file: pathlib.Path) -> dict[Kind, Outcome]:
    """Outcomes that were kept."""
    if not file.exists():
        return {}
    found = (_outcome(one) for one in json.loads(file.read_text(encoding="utf-8")))
    return {one.kind: one for one in found}


def _outcome(fields: dict[str, object]) -> Outcome:
    shapes = fields.pop("shapes")
    assert isinstance(shapes, list)
    made = tuple(Shape(**{**one, "operators": tuple(one["operators"])}) for one in shapes)
    differences = tuple(map(str, fields.pop("differences")))  # type: ignore[call-overload]
    return Outcome(**fields, shapes=made, differences=differences)  # type: ignore[arg-type]
