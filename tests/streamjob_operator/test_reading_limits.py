"""What is read and kept fits into the memory that the operator has."""

from __future__ import annotations

import pytest

from streamjob_operator.measure.limits import LEAST_MEMORY_BYTES, MEMORY_BYTES, ReadingLimits, limits_within

MIB = 2**20


@pytest.mark.parametrize("memory_bytes", [None, MEMORY_BYTES, 64 * 2**30])
def test_more_than_the_charts_memory_changes_nothing(memory_bytes: int | None) -> None:
    """Without a limit the downward API gives what the node has."""
    limits = limits_within(memory_bytes)
    assert limits == ReadingLimits()
    sizes = (limits.kept_bytes, limits.page_bytes, limits.large_bytes, limits.answer_bytes)
    assert sizes == (512 * MIB, 64 * MIB, 4 * MIB, 128 * MIB)
    assert limits.share_of == ""


def test_half_a_gibibyte_has_a_quarter_of_the_shares_and_says_so() -> None:
    limits = limits_within(512 * MIB)
    sizes = (limits.kept_bytes, limits.page_bytes, limits.large_bytes, limits.answer_bytes)
    assert sizes == (128 * MIB, 16 * MIB, MIB, 32 * MIB)
    assert limits.share_of == ", a share of the 512 MiB of memory that this operator may use"


@pytest.mark.parametrize("memory_bytes", [1, 100 * MIB, LEAST_MEMORY_BYTES])
def test_shares_have_a_floor(memory_bytes: int) -> None:
    assert limits_within(memory_bytes).kept_bytes == 64 * MIB
    assert limits_within(memory_bytes).page_bytes == 8 * MIB
