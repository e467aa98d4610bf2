"""`streamjob run` in fast time: the windows of a HorizontalPodAutoscaler are as much shorter as the trace's day is.

python -m benchmarks.rules_on_spark.quick JOB.yaml --out FOLDER --faster 10 --given FILE --checkpoint FOLDER
"""

from __future__ import annotations

import argparse
import dataclasses
import functools
import pathlib
from collections.abc import Callable

from benchmarks.rules_on_spark.waiting import FromOutside, lag_rows

from streamjob_operator.scaling import registry
from streamjob_operator.scaling.rivals.hpa_behavior import Behavior, Policy
from streamjob_operator.scaling.rivals.keda import KedaRule
from streamjob_operator.scaling.rule import ScalingRule
from streamjob_operator.spec.reading import read_job
from streamjob_operator.standalone.session import run_session


def rules(name: str, faster: float, waiting_rows: Callable[[], float] | None = None) -> ScalingRule:
    """The rule of that name; what a StreamJob's own policy can't make shorter is made shorter here.

    KEDA's looks at Kafka itself: `waiting_rows` are what it sees there; without it, what the job tells.
    """
    if name != "keda":
        return registry.get(name)
    keda = KedaRule(behavior(faster))
    return keda if waiting_rows is None else FromOutside(keda, waiting_rows)


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
    parser.add_argument("--given", type=pathlib.Path, required=True, help="file with the rows handed to Kafka so far")
    parser.add_argument("--checkpoint", type=pathlib.Path, required=True, help="of the query that takes them in")
    given = parser.parse_args()
    waiting_rows = functools.partial(lag_rows, given.given, given.checkpoint)
    return run_session(
        read_job(given.job),
        given.job,
        given.out,
        None,
        None,
        rules=lambda name: rules(name, given.faster, waiting_rows),
    )


if __name__ == "__main__":
    raise SystemExit(main())
