"""Whether a checkpoint can have another number of key groups, and whether the copy that has it is right. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from streamjob_agent.repartition.values import Contents, Facts, Store

TESTED_FROM, TESTED_TO = (4, 2), (4, 3)
"""Minor versions of Spark whose offline repartition was tried; its interface is private and experimental."""

MOST_KEY_GROUPS = 100_000
ROOM_FACTOR = 2
"""Of the checkpoint's size must be free: the copy, and the state that is written anew beside it."""


def refusals(facts: Facts, wanted: int) -> tuple[str, ...]:
    """Why the checkpoint cannot have `wanted` key groups, a sentence each; nothing where it can."""
    return (*_tool(facts, wanted), *_query(facts, wanted))


def _tool(facts: Facts, wanted: int) -> Iterator[str]:
    if not _tested(facts.spark_version):
        low, high = (".".join(str(part) for part in version) for version in (TESTED_FROM, TESTED_TO))
        yield f"Spark {facts.spark_version} is here; the number of key groups can be changed with {low} to {high}."
    if not 1 <= wanted <= MOST_KEY_GROUPS:
        yield f"--key-groups: {wanted} given; a number from 1 to {MOST_KEY_GROUPS} is needed."
    needed = ROOM_FACTOR * facts.bytes
    if facts.free_bytes is not None and facts.free_bytes < needed:
        yield (
            f"There are {facts.free_bytes:,} bytes free beside the checkpoint; {needed:,} are needed, "
            f"{ROOM_FACTOR} times its size, for a copy and the state that is written anew."
        )


def _query(facts: Facts, wanted: int) -> Iterator[str]:
    if facts.committed is None or facts.batch is None:
        yield "No batch was ever finished here: this is no checkpoint of a streaming query, or of one that never ran."
        return
    if facts.batch != facts.committed:
        yield (
            f"Batch {facts.batch} was begun and not finished (the newest finished one is {facts.committed}). Start the "
            "query again, let it finish the batch, and stop it between two batches."
        )
    if not facts.operators:
        yield "The query keeps no state, so it has no key groups: spark.sql.shuffle.partitions can be changed freely."
        return
    if "RocksDB" not in facts.provider:
        yield (
            f"State is kept by {facts.provider or 'a provider that the checkpoint does not name'}; only with "
            "RocksDBStateStoreProvider can the number of key groups be changed."
        )
    if facts.key_groups is None:
        yield "The checkpoint does not say how many key groups there are; it was made before Spark 4.0."
    elif facts.key_groups == wanted:
        yield f"--key-groups: {wanted} given; that is how many there are now."


def _tested(version: str) -> bool:
    found = re.match(r"(\d+)\.(\d+)", version)
    return found is not None and TESTED_FROM <= (int(found[1]), int(found[2])) <= TESTED_TO


def unfit(contents: Mapping[Store, Contents], key_groups: int) -> tuple[str, ...]:
    """Why the state as it is cannot be spread over another number of key groups."""
    return tuple(sentence for store, one in sorted(contents.items()) for sentence in _unfit(store, one, key_groups))


def _unfit(store: Store, one: Contents, key_groups: int) -> Iterator[str]:
    if one.keyless:
        yield f"{_capital(store)} has no key: all of its state is one key group, and stays so."
    elif one.key_groups != key_groups:
        yield f"{_capital(store)} has {one.key_groups} key groups, the query {key_groups}: that is not understood."
    elif one.misplaced:
        yield (
            f"{_capital(store)}: {one.misplaced:,} of {one.rows:,} rows are in another key group than Spark's shuffle "
            "would send their key to; they cannot be spread by it."
        )


def differences(before: Mapping[Store, Contents], after: Mapping[Store, Contents], key_groups: int) -> tuple[str, ...]:
    """What is wrong with the state after the change; nothing where no row was lost, changed or put wrong."""
    if set(before) != set(after):
        names = ", ".join(str(store) for store in sorted(set(before) ^ set(after)))
        return (f"These stores are there only before or only after: {names}.",)
    return tuple(
        sentence
        for store in sorted(before)
        for sentence in _differences(store, before[store], after[store], key_groups)
    )


def _differences(store: Store, before: Contents, after: Contents, key_groups: int) -> Iterator[str]:
    if after.key_groups != key_groups:
        yield f"{_capital(store)} has {after.key_groups} key groups in place of {key_groups}."
    if after.rows != before.rows:
        yield f"{_capital(store)} had {before.rows:,} rows of state and has {after.rows:,}."
    elif after.keys_hash != before.keys_hash:
        yield f"{_capital(store)} has as many rows as before, with other keys."
    elif after.rows_hash != before.rows_hash:
        yield f"{_capital(store)} has the same keys as before, with other values."
    if after.misplaced:
        yield f"{_capital(store)}: {after.misplaced:,} rows are in a key group that no task would look for them in."


def _capital(store: Store) -> str:
    return f"O{str(store)[1:]}"
