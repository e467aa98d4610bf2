"""`streamjob run` in fast time: the windows of a HorizontalPodAutoscaler are as much shorter as the trace's day is.

python -m benchmarks.rules_on_spark.quick JOB.yaml --out FOLDER --faster 10
"""

from __future__ import annotations

import argparse
import dataclasses
import pathlib

from streamjob_operator.scaling import registry
from streamjob_operator.scaling.rivals.hpa_behavior import Behavior, Policy
from streamjob_operator.scaling.rivals.keda import KedaRule
from streamjob_operator.scaling.rule import ScalingRule
from streamjob_operator.spec.reading import read_job
from streamjob_operator.standalone.session import run_session


def rules(name: str, faster: float) -> ScalingRule:
    """The rule of that name; what a StreamJob's own policy can't make shorter is made shorter here."""
    return KedaRule(behavior(faster)) if name == "keda" else registry.get(name)


def behavior(faster: float) -> Behavior:
    """Kubernetes' defaults, all times divided."""
    usual = Behavior()
    return dataclasses.replace(
        usual,
        up=_sooner(usual.up, faster),
        down=_sooner(usual.down, faster),
        up_window_s=usual.up_window_s / faster,
        down_window_s=usual.down_window_s / faster,
    )


def _sooner(policies: tuple[Policy, ...], faster: float) -> tuple[Policy, ...]:
    return tuple(dataclasses.replace(one, period_s=one.period_s / faster) for one in policies)


def main() -> int:
    """The driver's exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("job", type=pathlib.Path)
    parser.add_argument("--out", type=pathlib.Path, required=True)
    parser.add_argument("--faster", type=float, required=True)
    given = parser.parse_args()
    return run_session(
        read_job(given.job), given.job, given.out, None, None, rules=lambda name: rules(name, given.faster)
    )


if __name__ == "__main__":
    raise SystemExit(main())
