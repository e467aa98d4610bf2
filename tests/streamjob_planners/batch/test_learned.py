import numpy as np
import pytest

from streamjob_planners.batch.learned import Learned, MoveEvidence, learned


def test_a_parameter_follows_its_windows_and_tells_how_sure_it_is() -> None:
    rng = np.random.default_rng(1)
    known: Learned | None = None
    for value in rng.normal(2.0, 0.1, 60):
        known = learned(known, float(value))
    assert known is not None
    assert known.error is not None
    assert abs(known.mean - 2.0) <= known.error + 0.05
    assert 0.01 < known.error < 0.12  # two standard errors of some ten windows of spread 0.1


def test_one_window_has_no_interval() -> None:
    assert learned(None, 3.0).error is None


def test_a_change_is_believed_after_some_windows() -> None:
    known = learned(None, 1.0)
    for _ in range(30):
        known = known.with_value(1.0)
    for _ in range(15):
        known = known.with_value(3.0)
    assert known.mean > 2.4


def test_moves_begin_with_what_was_measured_elsewhere() -> None:
    fixed_s, per_byte_s = MoveEvidence.prior().line
    assert fixed_s == pytest.approx(0.2)
    assert per_byte_s == pytest.approx(5.5e-9)


def test_moves_of_the_job_itself_outweigh_it() -> None:
    evidence, rng = MoveEvidence.prior(), np.random.default_rng(2)
    for _ in range(100):
        size = float(rng.uniform(1e6, 1e8))
        evidence = evidence.with_move(size, 0.05 + 2e-8 * size + float(rng.normal(0, 0.01)))
    fixed_s, per_byte_s = evidence.line
    assert fixed_s == pytest.approx(0.05, abs=0.03)
    assert per_byte_s == pytest.approx(2e-8, rel=0.1)
    assert evidence.error_s < 0.05


def test_moves_of_one_size_still_give_seconds() -> None:
    evidence = MoveEvidence.prior()
    for _ in range(200):
        evidence = evidence.with_move(1e6, 0.02)
    fixed_s, per_byte_s = evidence.line
    assert fixed_s + per_byte_s * 1e6 == pytest.approx(0.02, abs=0.01)
    assert fixed_s >= 0
    assert per_byte_s >= 0
