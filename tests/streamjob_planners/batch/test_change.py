"""Changes of how key groups share the work: seen soon, and hardly ever where there is none."""

import numpy as np
import pytest

from streamjob_planners.batch.change import changes, shown_alone
from streamjob_planners.batch.sudden import sudden

ROWS = 24


class Load:
    """Batches of a job: shares with noise, batches slow as a whole, stragglers, an executor that is slow for one."""

    def __init__(self, seed: int, groups: int, noise: float) -> None:
        self.rng = np.random.default_rng(seed)
        self.mean = self.rng.permutation(1.0 / np.arange(1, groups + 1) ** 0.8)
        self.executor = self.rng.integers(0, 4, groups)
        self.noise = noise

    def shift(self, part: float) -> None:
        """Half of the key groups give this part of all work to the others."""
        giving = self.rng.permutation(self.mean.size) < self.mean.size // 2
        moved = min(part * self.mean.sum(), 0.95 * self.mean[giving].sum())
        self.mean[giving] *= 1.0 - moved / self.mean[giving].sum()
        self.mean[~giving] += moved * self.rng.dirichlet(np.ones(int((~giving).sum())))

    def batch(self) -> np.ndarray:
        scale = self.noise * np.sqrt(self.mean.mean() / self.mean)
        seconds = self.mean * np.maximum(0.0, 1.0 + scale * self.rng.standard_normal(self.mean.size))
        seconds *= np.exp(0.2 * self.rng.standard_normal())
        if self.rng.random() < 0.02:
            seconds[self.executor == self.rng.integers(4)] *= self.rng.uniform(1.5, 3.0)
        seconds[self.rng.random(self.mean.size) < 0.01] *= 4.0
        return seconds.round(4)


def seen(rows: list[np.ndarray]) -> tuple[int, ...]:
    return changes(np.array(rows[-ROWS:]), np.ones(min(ROWS, len(rows)), dtype=np.int64))


@pytest.mark.parametrize("groups", [8, 40, 200])
def test_a_shift_of_a_third_is_seen_within_two_batches(groups: int) -> None:
    late = []
    for seed in range(20):
        load = Load(seed, groups, noise=0.1)
        rows = [load.batch() for _ in range(ROWS)]
        load.shift(0.3)
        rows += [load.batch(), load.batch()]
        late.append(seen(rows)[-1:] != (ROWS - 2,))
    assert sum(late) <= 2


@pytest.mark.parametrize(("groups", "noise"), [(8, 0.1), (16, 0.3), (40, 0.3), (200, 0.1)])
def test_quiet_batches_show_no_change(groups: int, noise: float) -> None:
    looks, alarms = 0, 0
    for seed in range(8):
        load = Load(100 + seed, groups, noise)
        rows = [load.batch() for _ in range(ROWS + 20)]
        for end in range(ROWS, len(rows)):
            looks, alarms = looks + 1, alarms + (len(seen(rows[:end])) > 0)
    assert looks == 160
    assert alarms == 0


def test_one_slow_batch_is_no_change_and_neither_is_more_work_for_all() -> None:
    load = Load(1, 40, noise=0.1)
    rows = [load.batch() for _ in range(ROWS)]
    rows[-1] = np.where(load.executor == 0, 3.0 * rows[-1], rows[-1])
    assert seen(rows) == ()
    assert seen([*rows[:-1], *(2.0 * load.batch() for _ in range(6))]) == ()


def test_every_change_is_found_and_rows_of_several_batches_count_as_such() -> None:
    load = Load(2, 40, noise=0.1)
    rows = [load.batch() for _ in range(8)]
    load.shift(0.4)
    rows += [load.batch() for _ in range(8)]
    load.shift(0.4)
    rows += [load.batch() + load.batch() for _ in range(4)]
    assert changes(np.array(rows), np.array([1] * 16 + [2] * 4)) == (8, 16)


@pytest.mark.parametrize("rows", [0, 1, 5])
def test_too_few_rows_show_nothing(rows: int) -> None:
    busy_s = np.vstack([np.ones((rows // 2, 3)), 9.0 * np.ones((rows - rows // 2, 3))]) * np.arange(1, 4)
    assert changes(busy_s, np.ones(rows, dtype=np.int64)) == ()


def test_without_noise_or_work_nothing_breaks() -> None:
    still = np.ones((12, 5))
    assert changes(still, np.ones(12, dtype=np.int64)) == ()
    assert changes(0.0 * still, np.ones(12, dtype=np.int64)) == ()
    moved = still.copy()
    moved[7:, 0], moved[7:, 1] = 2.0, 0.0
    assert changes(moved, np.ones(12, dtype=np.int64)) == (7,)


@pytest.mark.parametrize("groups", [40, 200])
def test_a_large_shift_is_mostly_seen_in_its_first_batch(groups: int) -> None:
    late = []
    for seed in range(20):
        load = Load(seed, groups, noise=0.1)
        rows = [load.batch() for _ in range(ROWS)]
        load.shift(0.4)
        rows += [load.batch()]
        late.append(seen(rows)[-1:] != (ROWS - 1,))
    assert sum(late) <= 4


@pytest.mark.parametrize("share", [0.2, 0.5, 0.9])
def test_key_groups_that_often_have_no_rows_are_no_change_by_one_batch(share: float) -> None:
    rng = np.random.default_rng(5)
    mean = rng.permutation(1.0 / np.arange(1, 41) ** 0.8)
    rows = np.array([mean * (rng.random(40) < share) * rng.uniform(0.8, 1.2, 40) for _ in range(ROWS + 300)])
    assert not any(sudden(rows[end - ROWS : end]) for end in range(ROWS, len(rows)))


@pytest.mark.parametrize(("noise", "part", "least", "most"), [(1.0, 0.0, 0, 0), (0.3, 0.4, 10, 20)])
def test_one_batch_is_held_against_rows_of_many_as_if_they_varied_as_much(
    noise: float, part: float, least: int, most: int
) -> None:
    """Each of these is the mean of 25, in which nothing varies by much any more."""
    seen = []
    for seed in range(20):
        load = Load(seed, 40, noise)
        rows = [sum(load.batch() for _ in range(25)) for _ in range(ROWS)]
        load.shift(part)
        batches = np.array([25] * ROWS + [1])
        seen.append(shown_alone(np.array([*rows, load.batch()]), batches, ROWS))
    assert least <= sum(seen) <= most


def test_what_only_takes_time_is_no_change_by_one_batch() -> None:
    """An executor that is slow for a batch that is small: its key groups seem to have more, the others have less."""
    load = Load(3, 40, noise=0.05)
    rows = np.array([load.batch() for _ in range(ROWS)])
    for slower in (2.0, 3.0, 6.0):
        odd = rows.copy()
        odd[-1] = 0.5 * np.where(load.executor == 0, slower * odd[-1], odd[-1])
        assert not sudden(odd)
    assert not sudden(np.vstack([rows[:-1], 3.0 * rows[-1]]))
    assert not sudden(0.0 * rows)
