"""What holds for every test."""

from __future__ import annotations

import gc

from hypothesis import HealthCheck, settings

# A busy machine is no failure: how long an example takes to make or to run says nothing about what is tested.
settings.register_profile("untimed", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("untimed")


def pytest_collection() -> None:
    """What is collected stays to the end: to look for garbage among it, again and again, took a quarter of the time."""
    gc.disable()


def pytest_collection_finish() -> None:
    """From now on garbage is what tests leave behind."""
    gc.freeze()
    gc.enable()
