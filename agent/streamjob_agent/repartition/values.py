"""What is known of a checkpoint and of the state in it."""

from __future__ import annotations

import dataclasses


class Refused(Exception):
    """Nothing was changed that lasts, or not yet; the text is a sentence for a person."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """A checkpoint as it is found, before anything is done."""

    spark_version: str
    batch: int | None
    """Newest batch that was planned; None without any."""

    committed: int | None
    """Newest batch that was finished."""

    key_groups: int | None
    """Of each stateful operator; None where the checkpoint does not say."""

    provider: str
    """Class of the state stores, empty where the checkpoint does not say."""

    operators: int
    """How many folders of stateful operators there are."""

    bytes: int
    """Of all that is to be copied."""

    free_bytes: int | None
    """Where the copy goes; None where the file system cannot say."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True, order=True)
class Store:
    """One state store of an operator; a join of two streams may have four."""

    operator: int
    operator_name: str
    name: str

    def __str__(self) -> str:
        named = "" if self.name == "default" else f", {self.name}"
        return f"operator {self.operator} ({self.operator_name}{named})"


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Contents:
    """All rows of a store, in no order: two stores with the same rows have the same numbers."""

    key_groups: int
    rows: int
    keys_hash: int
    """Sum of the hashes of all keys."""

    rows_hash: int
    """Sum of the hashes of all rows, keys and values."""

    misplaced: int
    """Rows in another key group than the one that Spark's shuffle sends their key to."""

    keyless: bool
    """Whether all rows have the same, empty key: no number of key groups parts them."""
