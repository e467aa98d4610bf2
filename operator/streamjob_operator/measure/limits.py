"""How much is read and kept of what agents and Prometheus send, as shares of the memory that the process may use."""

from __future__ import annotations

import dataclasses

MEMORY_BYTES = 2 * 2**30
"""What the chart gives the operator, and what counts where nothing is known, or more is allowed: no job of a size that
StreamJob plans for needs more."""
LEAST_MEMORY_BYTES = 256 * 2**20
"""Shares are not smaller than with so much, in which an operator with few jobs runs."""
KEPT_SHARE, PAGE_SHARE, LARGE_SHARE, ANSWER_SHARE = 4, 32, 512, 16
BYTES_OF_PART, BYTES_OF_COMMA = 32, 16
"""Of an answer that is as long as may be. A series has some 250 bytes and three parts, a sample 30 and one; no question is
answered by more than 240,000 series or 600,000 samples. What is in these bytes is larger in memory."""


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
        return f"; all jobs share {mib(self.kept_bytes)}{self.share_of}" if self.share_of else ""

    @property
    def most_parts(self) -> int:
        """Lists and objects of an answer of Prometheus's."""
        return self.answer_bytes // BYTES_OF_PART

    @property
    def most_commas(self) -> int:
        """What comes in a list or object beside other things: a number of two digits is 32 bytes in memory."""
        return self.answer_bytes // BYTES_OF_COMMA


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
        share_of=f", a share of the {mib(memory_bytes)} of memory that this operator may use",
    )


def mib(size_bytes: float) -> str:
    """For a person."""
    return f"{size_bytes / 2**20:.0f} MiB"
