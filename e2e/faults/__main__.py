"""`python -m e2e.faults [PART OF A NAME ...]`: the table of faults and outcomes; fails when one is not good."""

from __future__ import annotations

import argparse
import dataclasses
import shutil
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

from rich.console import Console
from rich.table import Table

from e2e.cluster import binary, prometheus
from e2e.cluster.controlplane import ControlPlane
from e2e.cluster.fault_proxy import FaultProxy
from e2e.cluster.kubectl import ESTABLISHED, Kubectl
from e2e.cluster.process import free_ports
from e2e.cluster.prometheus import Prometheus, static_target
from e2e.faults.case import Case, Tools
from e2e.faults.cases import CASES
from e2e.faults.front import Front
from e2e.faults.judge import Outcome, judge
from e2e.faults.page import COLUMNS, cells, keep, page
from e2e.faults.stage import ROOT, Stage, settled

CONVERGE_S = 90.0


def main() -> int:
    """Run them one after another."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("only", nargs="*", help="run faults whose name contains one of these; default: all")
    parser.add_argument("--parallel", type=int, default=3, help="faults at the same time")
    parser.add_argument(
        "--page", type=Path, help="write the outcomes there as Markdown; those of single faults are kept"
    )
    options = parser.parse_args()
    cases = [one for one in CASES if not options.only or any(part in one.name for part in options.only)]
    if not cases:
        parser.error(f"no fault's name has {' or '.join(map(repr, options.only))} in it")
    console = Console(width=max(150, Console().width))
    folder = Path(tempfile.mkdtemp(prefix="streamjob-faults-"))
    writing = threading.Lock()

    def tell(outcome: Outcome) -> None:
        console.print(_line(outcome), markup=False, soft_wrap=True)
        with writing:  # each as it comes: what was measured stays when the rest is stopped
            if options.page:
                _write(options.page, [outcome], options.parallel)

    outcomes = run(cases, folder, tell, options.parallel)
    console.print(table(outcomes))
    bad = [one for one in outcomes if not one.good]
    if bad:
        console.print(f"Logs: {folder}")
    else:
        shutil.rmtree(folder)
    console.print(f"{len(outcomes) - len(bad)} of {len(outcomes)} faults ended well.")
    return 1 if bad else 0


def run(cases: list[Case], folder: Path, tell: Callable[[Outcome], None], parallel: int) -> list[Outcome]:
    """Each fault in a namespace of its own, with a Prometheus of its own, on one API server; each is told at once."""
    program = prometheus.get()
    if program is None:
        raise SystemExit(prometheus.HOW_TO_GET)
    with ControlPlane(binary.get()) as plane, ThreadPoolExecutor(parallel) as pool:
        install(Kubectl(plane.kubeconfig))

        def one(at: int, case: Case) -> Outcome:
            with _plane_for(case, plane) as theirs:
                place = Place(folder=folder / str(at), plane=theirs, prometheus=program)
                outcome = outcome_of(case, f"fault-{at}", place)
            tell(outcome)
            return outcome

        return list(pool.map(one, range(len(cases)), cases))


@contextmanager
def _plane_for(case: Case, shared: ControlPlane) -> Iterator[ControlPlane]:
    if not case.alone:
        yield shared
        return
    with ControlPlane(binary.get()) as own:
        install(Kubectl(own.kubeconfig))
        yield own


def install(kubectl: Kubectl) -> None:
    """Our kinds, until they can be used."""
    for file in sorted((ROOT / "crds").glob("*.yaml")):
        kubectl("apply", "--server-side", f"--filename={file}")
    kubectl("wait", ESTABLISHED, "--timeout=30s", "crd", "--all")


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where a case runs, with what, and how long it may take after the harm was done.

    `host` is where Prometheus finds the agent, as a URL has it.
    """

    folder: Path
    plane: ControlPlane
    prometheus: Path
    converge_s: float = CONVERGE_S
    host: str = "127.0.0.1"


def outcome_of(case: Case, namespace: str, place: Place) -> Outcome:
    """What came of one fault, in a namespace that is made for it."""
    port = free_ports(1)[0]
    target = static_target(f"{place.host}:{port}")
    with (
        Prometheus(place.folder / "prometheus", place.prometheus, [target]) as server,
        Front(server.url) as front,
        FaultProxy(place.plane) as proxy,
        Stage(place.folder / "stage", place.plane.kubeconfig, namespace, front.url, port) as stage,
    ):
        begun_s, converged_s = time.monotonic(), None
        try:
            note = case.harm(stage, Tools(plane=place.plane, proxy=proxy, prometheus=server, front=front))
            stage.wait("not converged", settled, place.converge_s)
            converged_s = time.monotonic() - begun_s
        except TimeoutError as error:
            note = str(error)
        return judge(case.name, stage, converged_s, note)


def _line(one: Outcome) -> str:
    told = "; ".join((*one.doubled, *one.lost)) or one.note
    ended = "did not converge" if one.converged_s is None else f"converged after {one.converged_s:.0f} s"
    return f"{'ok ' if one.good else 'BAD'} {one.name}: {ended}. {told}"


def table(outcomes: list[Outcome]) -> Table:
    """Faults and outcomes."""
    made = Table(title="Faults and outcomes")
    for name in COLUMNS:
        made.add_column(name)
    for one in outcomes:
        made.add_row(*cells(one))
    return made


def _write(file: Path, outcomes: list[Outcome], parallel: int) -> None:
    order = [one.name for one in CASES]
    known = [one for one in keep(outcomes, ROOT / "out" / "faults.json") if one.name in order]
    text = page(sorted(known, key=lambda one: order.index(one.name)), time.strftime("%Y-%m-%d"), parallel)
    file.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
