"""All figures of the five papers, in pieces that are made once: what was stopped goes on where it was.

    python -m benchmarks.figures                       # every program whose pieces are not all there, two at a time
    python -m benchmarks.figures --paper rod,cbp       # those of some papers
    python -m benchmarks.figures --quick               # fewer instances, rounds and seeds
    python -m benchmarks.figures --seconds 500         # begin no piece after so long; the next call goes on
    python -m benchmarks.figures --pages               # docs/figures.md and docs/figures/ from what there is

Each program prints the paper's statements beside ours and leaves pictures in out/figures. The exit code is that of
`kept.UNFINISHED` where something is left to do.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor

from benchmarks.figures import load_distribution, publish
from benchmarks.figures.papers import page
from benchmarks.kept import UNFINISHED

PAPERS = {
    "cbp": ("components_3_5", "components_table_1"),
    "rod": (
        *("cor_pairs", "cor_global", "cor_sensitivity", "rod_feasible", "rod_bounds", "rod_latency"),
        *("cor_bursts", "cor_rise", "rod_network", "cor_small"),
    ),
    "albic": ("figure_12_14", "figure_10_11", "figure_02_04", "section_5_2", "figure_05"),
    "blocking": ("blocking_09_13", "blocking_12", "blocking_05_08"),
    "elb": ("elb_05_06", "elb_02_04"),
}
"""Programs by paper, the longest first."""
AT_A_TIME = 2


def main() -> int:
    """Run the programs, or write the pages."""
    given = _arguments()
    if given.pages:
        publish.main()
        load_distribution.main()
        page.main()
        return 0
    began_s = time.monotonic()

    def run(program: str) -> int:
        left = [] if given.seconds is None else ["--seconds", f"{given.seconds - (time.monotonic() - began_s):g}"]
        quick = ["--quick"] if given.quick else []
        done = subprocess.run(
            [sys.executable, "-m", f"benchmarks.figures.{program}", *left, *quick],
            capture_output=True,
            text=True,
            check=False,
        )
        print(f"\n== {program}\n{done.stdout}{done.stderr}", flush=True)
        return done.returncode

    with ThreadPoolExecutor(AT_A_TIME) as pool:
        codes = list(pool.map(run, [program for paper in given.paper for program in PAPERS[paper]]))
    failed = [code for code in codes if code not in (0, UNFINISHED)]
    return failed[0] if failed else max(codes)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--paper", type=_papers, default=list(PAPERS), help=f"some of {', '.join(PAPERS)}, by commas")
    parser.add_argument("--quick", action="store_true", help="fewer instances, rounds and seeds")
    parser.add_argument("--seconds", type=float, help="begin no piece after this time")
    parser.add_argument("--pages", action="store_true", help="write the pages from what the programs left")
    return parser.parse_args()


def _papers(text: str) -> list[str]:
    wanted = text.split(",")
    for name in wanted:
        if name not in PAPERS:
            raise argparse.ArgumentTypeError(f"there is no '{name}'; choose of {', '.join(PAPERS)}")
    return wanted


if __name__ == "__main__":
    sys.exit(main())
