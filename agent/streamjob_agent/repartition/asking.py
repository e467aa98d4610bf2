"""What a person or an operator asks of the change, in whichever way the command is spelled: one body, one set of
sentences, one meaning of exit codes."""

from __future__ import annotations

import contextlib
import dataclasses
import urllib.parse
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from typing import Any

from streamjob_agent.repartition.journal import Stage
from streamjob_agent.repartition.operation import Change
from streamjob_agent.repartition.values import Facts, Refused

REFUSED = 2
"""Exit code: the sentence says why; the query can be started as it could before."""
FAILED = 1
"""Exit code: there is no Spark to do it with."""
QUIET = "WARN"
ONE_OF = "Give one of --key-groups, --undo and --clean at most; --dry-run goes with the first."
FOUND = {
    Stage.NONE: "No change of its key groups is under way.",
    Stage.DRAFT: "A change was interrupted while it copied; the checkpoint is as it was. The next one begins anew.",
    Stage.HALFWAY: (
        "A change was interrupted while it put the state in its place, and the query cannot start. Give --key-groups "
        "again, which ends what was begun, or --undo."
    ),
    Stage.WAITING: (
        "The new key groups are in their place and no batch has begun with them. Start the query, or go back with "
        "--undo."
    ),
    Stage.BEGUN: "A batch has begun with the new key groups and is not finished. Let the query finish it.",
    Stage.DONE: "Batches have been finished with the new key groups. --clean deletes the old state.",
}
Tell = Callable[[str], None]


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What is to be done with a checkpoint; nothing of it: how things stand is told."""

    checkpoint: str
    key_groups: int | None = None
    dry_run: bool = False
    undo: bool = False
    clean: bool = False

    @property
    def makes_sense(self) -> bool:
        """Whether no two of them were asked for at once, see ONE_OF."""
        return self.undo + self.clean + (self.key_groups is not None) <= 1 and (
            self.key_groups is not None or not self.dry_run
        )


def setting(text: str) -> tuple[str, str]:
    """Name and value of a Spark setting. Raises ValueError with a sentence."""
    name, equals, value = text.partition("=")
    if not equals:
        raise ValueError(f"'{text}' given; NAME=VALUE is needed")
    return name, value


def carry_out(
    asked: Asked,
    conf: Mapping[str, str],
    tell: Tell,
    complain: Tell,
    unbroken: Callable[[], AbstractContextManager[None]] = contextlib.nullcontext,
) -> int:
    """Start a Spark, do it, and end it; the exit code. `unbroken`: see :class:`Change`."""
    try:
        session = started(conf)
    except Exception as error:  # noqa: BLE001 - no PySpark, no Java, a setting that Spark refuses: nothing was changed
        complain(f"No Spark could be started, and nothing was changed: {' '.join(str(error).split())}")
        return FAILED
    try:
        _do(_change(session, asked.checkpoint, tell, unbroken), asked)
    except (Refused, OSError) as error:
        complain(str(error))
        return REFUSED
    finally:
        session.stop()
    return 0


def started(conf: Mapping[str, str]) -> Any:
    """A Spark of these settings."""
    # Imported here: who asks what there is to ask needs no Spark.
    from pyspark.sql import SparkSession

    builder: Any = SparkSession.builder
    for name, value in {"spark.ui.enabled": "false", **conf}.items():
        builder = builder.config(name, value)
    session = builder.appName("streamjob repartition").getOrCreate()
    session.sparkContext.setLogLevel(QUIET)
    return session


def _change(session: Any, checkpoint: str, tell: Tell, unbroken: Callable[[], AbstractContextManager[None]]) -> Change:
    from streamjob_agent.repartition.engine import SparkEngine
    from streamjob_agent.repartition.hadoop import HadoopFiles

    files = HadoopFiles(session)
    place = files.qualified(checkpoint).rstrip("/")
    if not urllib.parse.urlsplit(place).path:
        raise Refused(f"{checkpoint} given; a folder is needed, as what is changed lies beside the checkpoint.")
    return Change(files=files, engine=SparkEngine(session), checkpoint=place, tell=tell, unbroken=unbroken)


def _do(change: Change, asked: Asked) -> None:
    if asked.undo:
        change.undo()
    elif asked.clean:
        _clean(change)
    elif asked.key_groups is None:
        _tell(change)
    elif asked.dry_run:
        _rehearse(change, asked.key_groups)
    else:
        change.run(asked.key_groups)


def _clean(change: Change) -> None:
    if not change.clean():
        raise Refused(f"Nothing is deleted. {FOUND[change.stage()]}")
    change.tell("There is no old state.")


def _tell(change: Change) -> None:
    change.tell(_described(change.facts()))
    change.tell(FOUND[change.stage()])


def _rehearse(change: Change, key_groups: int) -> None:
    facts = change.facts()
    change.tell(_described(facts))
    stage = change.stage()
    if stage not in (Stage.NONE, Stage.DONE):
        change.tell(FOUND[stage])
    sentences = change.refusals(key_groups)
    if sentences:
        raise Refused("\n".join(sentences))
    change.tell(
        f"It would be copied ({facts.bytes:,} bytes), the copy spread over {key_groups} key groups and checked, and "
        "put in the place of the old state. Nothing was changed."
    )


def _described(facts: Facts) -> str:
    if facts.committed is None:
        return "No batch was ever finished here."
    many = "an unknown number of" if facts.key_groups is None else str(facts.key_groups)
    return (
        f"The newest finished batch is {facts.committed}; {facts.operators} stateful operators with {many} key groups "
        f"each, {facts.bytes:,} bytes."
    )
