"""Where Spark puts a key: its hash of one bigint column and the partition that follows, in plain Python.

Murmur3 (x86, 32 bit) with seed 42 over the two halves of the number, the low one first; a partition is the hash modulo
the number of partitions, never negative.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator

MASK = 0xFFFFFFFF
SEED = 42


def _rotate(value: int, bits: int) -> int:
    return (value << bits | value >> (32 - bits)) & MASK


def _absorb(state: int, word: int) -> int:
    word = _rotate(word * 0xCC9E2D51 & MASK, 15) * 0x1B873593 & MASK
    return (_rotate(state ^ word, 13) * 5 + 0xE6546B64) & MASK


def hash_of_bigint(value: int) -> int:
    """What `hash(column)` gives in Spark SQL: a signed 32-bit number."""
    state = _absorb(SEED, value & MASK)
    state = _absorb(state, value >> 32 & MASK) ^ 8
    state = (state ^ state >> 16) * 0x85EBCA6B & MASK
    state = (state ^ state >> 13) * 0xC2B2AE35 & MASK
    state ^= state >> 16
    return state - (1 << 32) if state >> 31 else state


def partition_of(key: int, partitions: int) -> int:
    """Shuffle partition, and so key group, of a bigint key."""
    return hash_of_bigint(key) % partitions


def keys_of(partition: int, partitions: int, start: int = 0) -> Iterator[int]:
    """All keys from `start` on that fall into one partition, in ascending order."""
    return (key for key in itertools.count(start) if partition_of(key, partitions) == partition)
