"""The picture of docs/batch-time.md: a batch of a stored measurement, today and after a plan.

python -m benchmarks.figures.batch_time
"""

from __future__ import annotations

from pathlib import Path

import matplotlib as mpl
from matplotlib.figure import Figure

from streamjob_operator.offline.draw_batch import draw_batches
from streamjob_operator.offline.proposal import default_job, propose, with_balancing
from streamjob_operator.offline.snapshot_file import read_moment
from streamjob_operator.report_plots import STYLE

ROOT = Path(__file__).parents[2]
SNAPSHOT, PICTURE = ROOT / "samples/snapshots/demo.json", ROOT / "docs/pictures/batch-time.png"
STEPS = 200_000
"""Steps of the search, so that the picture is the same every time."""


def main() -> None:
    """Draw it."""
    job = with_balancing(default_job(), planner="search", plan_deadline_s=60.0, max_iterations=STEPS)
    proposal = propose(read_moment(SNAPSHOT), job, seed=1)
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(11.0, 5.0), layout="constrained")
        draw_batches(figure.subplots(2, 1), proposal)
        figure.savefig(PICTURE, dpi=110)
    before, after = proposal.plan.before, proposal.plan.after
    print(f"{PICTURE.relative_to(ROOT)}: {before.expected_s:.2f} s today, {after.expected_s:.2f} s after the plan")


if __name__ == "__main__":
    main()
