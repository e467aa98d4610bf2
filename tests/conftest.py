"""What holds for every test."""

from __future__ import annotations

from hypothesis import HealthCheck, settings

# A busy machine is no failure: how long an example takes to make or to run says nothing about what is tested.
settings.register_profile("untimed", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("untimed")
