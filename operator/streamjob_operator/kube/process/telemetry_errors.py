"""How far predictions of a job's batches were off, each batch counted once: a histogram of its own."""

from __future__ import annotations

import bisect
import dataclasses

from prometheus_client.core import HistogramMetricFamily

from streamjob_operator.series import BatchTimes

BOUNDS = (0.02, 0.05, 0.1, 0.15, 0.25, 0.5, 1.0)
"""Upper ends of the buckets, parts of the measured seconds; at a mean above 0.25 predictions are not believed."""


@dataclasses.dataclass(slots=True)
class Errors:
    """One job's batches since the operator began; the last of `counts` is of what lies above all BOUNDS."""

    counts: list[int] = dataclasses.field(default_factory=lambda: [0] * (len(BOUNDS) + 1))
    total: float = 0.0
    seen_s: float = float("-inf")

    def take(self, times: BatchTimes | None) -> None:
        """Take one cycle's batches in, those that an earlier one has told left out."""
        if times is None:
            return
        new = times.ended_after(self.seen_s)
        for error in new.error_ratio.tolist():
            self.counts[bisect.bisect_left(BOUNDS, error)] += 1
            self.total += error
        self.seen_s = max(self.seen_s, *times.ended_at_s.tolist())

    def add_to(self, metric: HistogramMetricFamily, labels: tuple[str, ...]) -> None:
        """This job's samples; none before the first batch."""
        if any(self.counts):
            ends = [*(str(bound) for bound in BOUNDS), "+Inf"]
            up_to = [sum(self.counts[: at + 1]) for at in range(len(ends))]
            metric.add_metric(labels, buckets=list(zip(ends, up_to, strict=True)), sum_value=self.total)
