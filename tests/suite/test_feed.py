"""Scans of the end-to-end suite, most of them of one key group."""

from __future__ import annotations

import itertools
from collections import Counter, defaultdict

from e2e.suite.feed import SKEW, lopsided, partition_of, rows


def test_most_of_a_lopsided_feed_is_one_key_group_of_several_keys() -> None:
    scans = list(itertools.islice(filter(lopsided, rows(SKEW)), 2_000))
    counted = Counter(partition_of(one["depot"], SKEW.partitions) for one in scans)
    assert counted.keys() == set(range(SKEW.partitions))
    assert counted[0] > 1.4 * (len(scans) - counted[0]), "alone on an executor it is the longest task by far"
    assert len({one["depot"] for one in scans if partition_of(one["depot"], SKEW.partitions) == 0}) > 1


def test_a_scan_that_is_sent_twice_is_kept_twice_or_not_at_all() -> None:
    kept = defaultdict(set)
    for scan in itertools.islice(rows(SKEW), 5_000):
        kept[scan["scan"]].add(lopsided(scan))
    assert all(len(answers) == 1 for answers in kept.values())
