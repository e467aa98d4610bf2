"""How much is read and kept of what agents and Prometheus send, as shares of the memory that the process may use."""

from __future__ import annotations

import dataclasses

from streamjob_planners.advice.sentences import amount

MEMORY_BYTES = 2 * 2**30
"""What the chart gives the operator, and what counts where nothing is known, or more is allowed: no job of a size that
StreamJob plans for needs more."""
LEAST_MEMORY_BYTES = 256 * 2**20
"""Shares are not smaller than with so much, in which an operator with few jobs runs."""
KEPT_SHARE, PAGE_SHARE, LARGE_SHARE, ANSWER_SHARE = 4, 32, 512, 32
"""Of an answer the worst kind took 13 times its bytes while it was taken apart (4 MiB of small objects, short texts and
one long text at four bytes a letter, by tracemalloc), one of series five times; one is read at a time."""
BYTES_OF_PART, BYTES_OF_COMMA = 64, 20
"""Of an answer that is as long as may be: a series has some 250 bytes, three lists and objects and ten commas. The
smallest object takes 192 bytes in memory, a short text and its place 88."""
BYTES_OF_GROUP, BYTES_OF_SAMPLE = 6700, 110
"""Of the longest answer for each key group, of which 12 series of 250 bytes are half, and each sample of 30 bytes: what
is asked at once always fits, with room for longer names."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class ReadingLimits:
    """`kept_bytes` of pages of all jobs together, `page_bytes` of an agent's page and `answer_bytes` of Prometheus's as
    they are sent. Beyond `large_bytes` either is read in its turn. `share_of` ends a sentence that tells a limit: what
    it is a share of, empty where more memory would not change it.
    """

    kept_bytes: int = MEMORY_BYTES // KEPT_SHARE
    page_bytes: int = MEMORY_BYTES // PAGE_SHARE
    large_bytes: int = MEMORY_BYTES // LARGE_SHARE
    answer_bytes: int = MEMORY_BYTES // ANSWER_SHARE
    share_of: str = ""

    @property
    def room_of(self) -> str:
        """The end of a sentence about what is kept: how much all jobs share, where more memory would change it."""
        return f"; all jobs share {amount(self.kept_bytes)}{self.share_of}" if self.share_of else ""

    @property
    def most_parts(self) -> int:
        """Lists and objects of an answer of Prometheus's: a million of the longest."""
        return self.answer_bytes // BYTES_OF_PART

    @property
    def most_commas(self) -> int:
        """What comes in a list or object beside other things, three millions of the longest answer."""
        return self.answer_bytes // BYTES_OF_COMMA

    @property
    def one_query_groups(self) -> int:
        """Up to this many key groups a page is one question to Prometheus; beyond, each kind of series is one."""
        return self.answer_bytes // BYTES_OF_GROUP

    @property
    def most_samples(self) -> int:
        """Of one answer that is asked for: a job with more within a window has no series of batches."""
        return self.answer_bytes // BYTES_OF_SAMPLE


def limits_within(memory_bytes: int | None) -> ReadingLimits:
    """Those of a process, its planning processes included, that may use so much; None where nobody has said."""
    if memory_bytes is None or memory_bytes >= MEMORY_BYTES:
        return ReadingLimits()
    counted_bytes = max(memory_bytes, LEAST_MEMORY_BYTES)
    return ReadingLimits(
        kept_bytes=counted_bytes // KEPT_SHARE,
        page_bytes=counted_bytes // PAGE_SHARE,
        large_bytes=counted_bytes // LARGE_SHARE,
        answer_bytes=counted_bytes // ANSWER_SHARE,
        share_of=f", a share of the {amount(memory_bytes)} of memory that this process may use",
    )
