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
    assert sizes == (512 * MIB, 64 * MIB, 4 * MIB, 64 * MIB)
    assert limits.share_of == ""


def test_half_a_gibibyte_has_a_quarter_of_the_shares_and_says_so() -> None:
    limits = limits_within(512 * MIB)
    sizes = (limits.kept_bytes, limits.page_bytes, limits.large_bytes, limits.answer_bytes)
    assert sizes == (128 * MIB, 16 * MIB, MIB, 16 * MIB)
    assert limits.share_of == ", a share of the 512 MiB of memory that this process may use"


@pytest.mark.parametrize("memory_bytes", [1, 100 * MIB, LEAST_MEMORY_BYTES])
def test_shares_have_a_floor(memory_bytes: int) -> None:
    assert limits_within(memory_bytes).kept_bytes == 64 * MIB
    assert limits_within(memory_bytes).page_bytes == 8 * MIB


SERIES = (
    b'{"metric":{"__name__":"streamjob_group_state_commit_seconds_total","executor":"400","operator":"123",'
    b'"partition":"12345","query":"0a1b2c3d-0a1b-2c3d-4e5f-0a1b2c3d4e5f","instance":"10.123.123.123:7980",'
    b'"namespace":"jobs"},"value":[1764207525.123,"123456.789012345"]},'
)
SAMPLE = b'[1764207525.123,"123456.789012345"],'


def fits(limits: ReadingLimits, one: bytes, times: int) -> bool:
    parts, commas = one.count(b"{") + one.count(b"["), one.count(b",")
    most = (limits.answer_bytes, limits.most_parts, limits.most_commas)
    return all(times * size <= limit for size, limit in zip((len(one), parts, commas), most, strict=True))


@pytest.mark.parametrize("memory_bytes", [LEAST_MEMORY_BYTES, 512 * MIB, MEMORY_BYTES])
def test_what_is_asked_at_once_may_be_answered(memory_bytes: int) -> None:
    """Else a job would lose its measurements where its page is read in parts, or has no series of batches, instead."""
    limits = limits_within(memory_bytes)
    assert fits(limits, SERIES, 12 * limits.one_query_groups)
    assert fits(limits, SAMPLE, limits.most_samples)


def test_a_job_of_ten_thousand_key_groups_is_read_with_little_memory() -> None:
    """With half a GiB: a KiB of each on the agent's page, and of Prometheus kind by kind."""
    limits = limits_within(512 * MIB)
    assert limits.page_bytes >= 10_000 * 1024
    assert fits(limits, SERIES, 10_000)


def test_two_hundred_thousand_key_groups_are_read_kind_by_kind() -> None:
    assert fits(ReadingLimits(), SERIES.replace(b"0a1b2c3d-0a1b-2c3d-4e5f-0a1b2c3d4e5f", b""), 200_000)
