"""Every scaling rule on every trace, run by run; what was run before is kept and not run again.

    python -m benchmarks.scaling                                  # all rules and traces, two seeds
    python -m benchmarks.scaling --seeds 20                       # more seeds
    python -m benchmarks.scaling --seeds 3 --first-seed 2         # seeds that no rule was tried on
    python -m benchmarks.scaling --quick                          # a third of each trace, one seed
    python -m benchmarks.scaling --traces diurnal,step --rules utilization,hpa --seeds 3
    python -m benchmarks.scaling --seconds 480                    # a piece of at most eight minutes, then what there is
    python -m benchmarks.scaling --publish                        # limits, page and pictures from what there is
    python -m benchmarks.scaling --first-seed 2 --seeds 3 --rules batch-time,utilization,hpa,keda,oracle --publish

Only seeds that are whole are published, every rule on every trace.

Figures come from simulated time alone: a slow or busy machine changes none of them.
"""

from __future__ import annotations

import argparse

from benchmarks.scaling import arena, publish, show
from benchmarks.scaling.pieces import Piece, made
from benchmarks.scaling.summary import gathered, whole

from streamjob_sim.traces import catalogue

QUICK_PART = 1 / 3


def main() -> None:
    """Run what is missing, print the tables."""
    given = _arguments()
    first, seeds, part = given.first_seed, *((1, QUICK_PART) if given.quick else (given.seeds, 1.0))
    pieces = [
        Piece(trace=trace, rule=rule, seed=seed, part=part)
        for seed in range(first, first + seeds)
        for trace in given.traces
        for rule in given.rules
    ]
    runs = []
    for piece, score in made(pieces, given.seconds):
        print(
            f"{piece.trace} {piece.rule} seed {piece.seed}: {score.executor_h:.1f} h, "
            f"{100 * score.late_ratio:.1f} % late ({100 * score.late_rows_ratio:.1f} % of rows), "
            f"{score.actions} actions, {score.flaps} flaps",
            flush=True,
        )
        runs.append((piece, score))
    scores = gathered(runs)
    for trace in dict.fromkeys(trace for trace, _ in scores):
        print(f"\n{trace}: {catalogue.TRACES[trace].about}\n\n{show.by_trace(scores, trace)}")
    print(f"\nAll traces together\n\n{show.overall(scores)}")
    print(f"\n{len(runs)} of {len(pieces)} runs are there.")
    scores = gathered(whole(runs, pieces)) if given.publish else scores
    if given.publish and set(given.rules) == set(arena.rules()):
        publish.publish(scores)
    elif given.publish:
        publish.publish_some(scores, first)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--traces", type=_listed(catalogue.names()), default=list(catalogue.names()))
    parser.add_argument("--rules", type=_listed(arena.rules()), default=list(arena.rules()))
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--first-seed", type=int, default=1)
    parser.add_argument("--quick", action="store_true", help="a third of each trace, one seed")
    parser.add_argument("--seconds", type=float, help="start no new run after this time")
    parser.add_argument("--publish", action="store_true", help="write limits, page and pictures; of some rules a table")
    return parser.parse_args()


class _listed:  # noqa: N801 - named as argparse shows it
    """Names by commas, each one of those there are."""

    def __init__(self, names: tuple[str, ...]) -> None:
        self._names = names

    def __call__(self, text: str) -> list[str]:
        wanted = text.split(",")
        for name in wanted:
            if name not in self._names:
                raise argparse.ArgumentTypeError(f"there is no '{name}'; choose of {', '.join(self._names)}")
        return wanted


if __name__ == "__main__":
    main()
