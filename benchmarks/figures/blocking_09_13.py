"""Figures 9, 10, 11 and 13 of the blocking-rate paper: run time and final throughput by number of workers.

Run with `python -m benchmarks.figures.blocking_09_13`.
"""

from __future__ import annotations

import dataclasses

import numpy as np
from benchmarks.figures.report import Claim, Page, Panel, arguments, table
from benchmarks.kept import piece
from benchmarks.region.systems import SYSTEMS, Run, fair_total, run
from benchmarks.region.world import Load

SEED = 1
ORACLE_S = 300.0
FAST, SMT_GAIN, HOST_CORES = 1.86, 1.6, 8
"""A fast host's core against a slow one's (65 to 35 in the paper's own figure), and what its second threads add."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Sweep:
    """Run time over Oracle*'s and final throughput in millions a second, by system, one value for each size."""

    time: dict[str, list[float]]
    final: dict[str, list[float]]


def main() -> None:
    """Prints tables and statements, draws all four figures."""
    quick = arguments(__doc__ or "").quick
    page = Page("blocking_09_13")
    small = (2, 4, 8) if quick else (2, 4, 8, 16)
    large = (2, 8, 32) if quick else (2, 4, 8, 16, 32, 64)
    panels = [
        *_figure(page, "figure 9", 1_000, 10.0, small, static=True),
        *_figure(page, "figure 10", 10_000, 100.0, small, static=True),
        *_figure(page, "figure 13", 60_000, 100.0, large, static=False),
        *_figure_11(page, (2, 8, 24) if quick else (2, 4, 8, 16, 24)),
    ]
    page.draw(panels, columns=3)


def _load(multiplies: float, times: float, n: int, *, dynamic: bool) -> Load:
    factor = np.where(np.arange(n) < n // 2, times, 1.0)
    return Load(multiplies=multiplies, factor=factor, until_ratio=1 / 8 if dynamic else None)


@piece
def _at(system: str, multiplies: float, times: float, n: int, dynamic: bool) -> tuple[float, float]:
    """Run time and final throughput of one system, seconds and tuples a second."""
    load = _load(multiplies, times, n, dynamic=dynamic)
    one = run(system, load, fair_total(load, ORACLE_S), SEED)
    return one.elapsed_s, one.final_rps


def _sweep(multiplies: float, times: float, sizes: tuple[int, ...], *, dynamic: bool) -> Sweep:
    time: dict[str, list[float]] = {system: [] for system in SYSTEMS}
    final: dict[str, list[float]] = {system: [] for system in SYSTEMS}
    for n in sizes:
        runs = {system: _at(system, multiplies, times, n, dynamic) for system in SYSTEMS}
        for system, (elapsed_s, final_rps) in runs.items():
            time[system].append(elapsed_s / runs["Oracle*"][0])
            final[system].append(final_rps / 1e6)
    return Sweep(time=time, final=final)


def _figure(
    page: Page, name: str, multiplies: float, times: float, sizes: tuple[int, ...], *, static: bool
) -> list[Panel]:
    panels = []
    if static:
        sweep = _sweep(multiplies, times, sizes, dynamic=False)
        _print(f"{name}, static", sizes, sweep)
        page.claims([_STATIC[name](sweep)], f"{name}, load for the whole run, {_sizes(sizes)} workers, seed {SEED}")
        panels.append(_panel(f"{name}: static", sizes, sweep.time, "run time / Oracle*", log=True))
    sweep = _sweep(multiplies, times, sizes, dynamic=True)
    _print(f"{name}, dynamic", sizes, sweep)
    page.claims(
        _DYNAMIC[name](sizes, sweep), f"{name}, load removed at an eighth, {_sizes(sizes)} workers, seed {SEED}"
    )
    return [
        *panels,
        _panel(f"{name}: dynamic", sizes, sweep.time, "run time / Oracle*", log=True),
        _panel(f"{name}: dynamic", sizes, sweep.final, "final throughput, million/s"),
    ]


def _print(name: str, sizes: tuple[int, ...], sweep: Sweep) -> None:
    print(f"\n{name}: run time over Oracle*'s, then final throughput in millions a second")
    rows: list[list[object]] = [[f"{system} time", *values] for system, values in sweep.time.items()]
    rows += [[f"{system} final", *values] for system, values in sweep.final.items()]
    table(("system", *(str(n) for n in sizes)), rows)


def _panel(
    title: str, sizes: tuple[int, ...], lines: dict[str, list[float]], y_label: str, *, log: bool = False
) -> Panel:
    return Panel(title=title, x_label="workers", y_label=y_label, lines=lines, x=[float(n) for n in sizes], log_y=log)


def _sizes(sizes: tuple[int, ...]) -> str:
    return f"{sizes[0]}-{sizes[-1]}"


def _range(values: list[float]) -> str:
    return f"{min(values):.2f} to {max(values):.2f}"


def _static_9(sweep: Sweep) -> Claim:
    times = [rr / lb for rr, lb in zip(sweep.time["RR"], sweep.time["LB-adaptive"], strict=True)]
    price = [a / s - 1 for a, s in zip(sweep.time["LB-adaptive"], sweep.time["LB-static"], strict=True)]
    return Claim(
        paper="LB is 1.5 to 4 times better than RR; being adaptive is nearly free.",
        ours=f"{_range(times)} times better (our RR is gated by exactly a tenth of the speed); adaptive costs "
        f"{100 * min(price):.0f} to {100 * max(price):.0f} %.",
        holds=min(times) >= 1.5 and max(price) < 0.1,
    )


def _static_10(sweep: Sweep) -> Claim:
    price = [a / s - 1 for a, s in zip(sweep.time["LB-adaptive"], sweep.time["LB-static"], strict=True)]
    lb = sweep.time["LB-static"] + sweep.time["LB-adaptive"]
    return Claim(
        paper="LB takes 1.3 to 1.8 times as long as Oracle*, RR 45 times; being adaptive costs up to 30 %.",
        ours=f"LB {_range(lb)}, RR {_range(sweep.time['RR'])} times; adaptive costs up to {100 * max(price):.0f} %.",
        holds=max(lb) <= 1.9 and min(sweep.time["RR"]) > 20 and max(price) <= 0.4,
    )


def _dynamic_9(sizes: tuple[int, ...], sweep: Sweep) -> list[Claim]:
    adaptive = sweep.time["LB-adaptive"]
    few = [at for at, n in enumerate(sizes) if n <= 4]
    gain = [sweep.final["LB-adaptive"][at] / sweep.final["LB-static"][at] for at in few]
    return [
        Claim(
            paper="LB-adaptive outperforms Oracle*, which changes over too early.",
            ours=f"LB-adaptive takes {_range(adaptive)} times as long.",
            holds=max(adaptive) < 1,
        ),
        Claim(
            paper="At 2 and 4 workers the benefit shows in time and in final throughput.",
            ours=f"Final throughput {_range(gain)} times LB-static's.",
            holds=min(gain) > 1.2,
        ),
        *_scaling(sizes, sweep.final["LB-adaptive"]),
    ]


def _scaling(sizes: tuple[int, ...], final: list[float]) -> list[Claim]:
    """Nothing to say of a sweep that ends at 8."""
    if max(sizes) <= 8:
        return []
    return [
        Claim(
            paper="Beyond 8 workers nothing scales any more.",
            ours=f"At 8 {final[sizes.index(8)]:.1f}, at {sizes[-1]} {final[-1]:.1f} million/s.",
            holds=final[-1] < 1.15 * final[sizes.index(8)],
        )
    ]


def _dynamic_10(sizes: tuple[int, ...], sweep: Sweep) -> list[Claim]:
    gain = [a / s for a, s in zip(sweep.final["LB-adaptive"], sweep.final["LB-static"], strict=True)]
    even = [a / o for a, o in zip(sweep.final["RR"], sweep.final["Oracle*"], strict=True)]
    late = [rr / lb for rr, lb in zip(sweep.time["RR"], sweep.time["LB-adaptive"], strict=True)]
    return [
        Claim(
            paper="LB-adaptive's final throughput is almost twice LB-static's.",
            ours=f"{_range(gain)} times.",
            holds=min(gain) > 1.4,
        ),
        Claim(
            paper="RR ends with about Oracle*'s throughput, but takes at least 10 times as long.",
            ours=f"Final {_range(even)} of Oracle*'s; run time {_range(late)} times LB-adaptive's, "
            f"{_range(sweep.time['RR'])} times Oracle*'s.",
            holds=min(even) > 0.9 and min(sweep.time["RR"]) >= 10,
        ),
    ]


def _dynamic_13(sizes: tuple[int, ...], sweep: Sweep) -> list[Claim]:
    many = [at for at, n in enumerate(sizes) if n >= 32]
    better = [sweep.time["RR"][at] / sweep.time[lb][at] for at in many for lb in ("LB-static", "LB-adaptive")]
    gain = [sweep.final["LB-adaptive"][at] / sweep.final["LB-static"][at] for at in many]
    return [
        Claim(
            paper="At 32 and 64 workers both LBs are close to 9 times better than RR.",
            ours=f"{_range(better)} times.",
            holds=min(better) >= 7,
        ),
        Claim(
            paper="LB-adaptive ends with a higher throughput than LB-static.",
            ours=f"At 32 and more {_range(gain)} times.",
            holds=min(gain) > 1.0,
        ),
    ]


_STATIC = {"figure 9": _static_9, "figure 10": _static_10}
_DYNAMIC = {"figure 9": _dynamic_9, "figure 10": _dynamic_10, "figure 13": _dynamic_13}


def host_speeds(fast: int, slow: int) -> list[float]:
    """Speed of each worker, those on the fast host first; a host that runs more than it has threads shares them."""
    fast_total = FAST * (fast if fast <= HOST_CORES else max(HOST_CORES, min(HOST_CORES * SMT_GAIN, fast)))
    slow_total = float(min(slow, HOST_CORES))
    return [fast_total / max(fast, 1)] * fast + [slow_total / max(slow, 1)] * slow


@piece
def _hosts(system: str, fast: int, slow: int) -> Run:
    speed = np.array(host_speeds(fast, slow))
    load = Load(multiplies=20_000, factor=np.ones(speed.size), speed=speed)
    return run(system, load, fair_total(load, 120.0), SEED, least_s=120)


def _figure_11(page: Page, sizes: tuple[int, ...]) -> list[Panel]:
    two = _hosts("LB-adaptive", 1, 1)
    settled = 100 * two.shares[30:120, 0]
    final: dict[str, list[float]] = {"All-Slow": [], "All-Fast": [], "Even-RR": [], "Even-LB": []}
    for n in sizes:
        half = n // 2
        cases = {"All-Slow": ("RR", 0, n), "All-Fast": ("RR", n, 0), "Even-RR": ("RR", half, half)}
        for name, case in {**cases, "Even-LB": ("LB-adaptive", half, half)}.items():
            final[name].append(float(_hosts(*case).merged[60:].mean()) / 1e6)
    odd = {system: float(_hosts(system, 16, 8).merged[60:].mean()) / 1e6 for system in ("RR", "LB-adaptive")}
    time = {
        name: [rr / one for rr, one in zip(final["Even-RR"], values, strict=True)] for name, values in final.items()
    }
    print("\nfigure 11: throughput in millions a second; 16 fast + 8 slow:", {k: round(v, 3) for k, v in odd.items()})
    table(
        ("placement", *(str(n) for n in sizes)),
        [[name, *(f"{v:.3f}" for v in values)] for name, values in final.items()],
    )
    page.claims(_claims_11(sizes, settled.tolist(), final, odd["LB-adaptive"]), f"figure 11, seed {SEED}")
    return [
        Panel(
            title="figure 11 top: fast and slow",
            x_label="s",
            y_label="weight, %",
            lines={"fast": (100 * two.shares[:120, 0]).tolist(), "slow": (100 * two.shares[:120, 1]).tolist()},
        ),
        _panel("figure 11 bottom", sizes, time, "run time / Even-RR"),
        _panel("figure 11 bottom", sizes, final, "throughput, million/s"),
    ]


def _claims_11(sizes: tuple[int, ...], settled: list[float], final: dict[str, list[float]], odd: float) -> list[Claim]:
    upto_8 = [at for at, n in enumerate(sizes) if n <= 8]
    before_24 = [at for at, n in enumerate(sizes) if n < 24]
    alike = [final["All-Slow"][at] / final["Even-RR"][at] for at in upto_8]
    ahead = [final["All-Fast"][at] / final["Even-LB"][at] for at in before_24]
    best = max(max(values) for values in final.values())
    return [
        Claim(
            paper="One fast and one slow: about 65 to 35 by 30 s.",
            ours=f"From 30 s on {np.mean(settled):.1f} to {100 - np.mean(settled):.1f} on average "
            f"(speeds chosen as 65 to 35; it must find them).",
            holds=abs(float(np.mean(settled)) - 65) < 3,
        ),
        Claim(
            paper="Up to 8 workers All-Slow and Even-RR are alike.",
            ours=f"All-Slow over Even-RR: {_range(alike)}.",
            holds=0.9 <= min(alike) <= max(alike) <= 1.1,
        ),
        Claim(
            paper="All-Fast is ahead of Even-LB until 24 workers.",
            ours=f"All-Fast over Even-LB below 24: {_range(ahead)}.",
            holds=min(ahead) > 1,
        ),
        Claim(
            paper="The fastest of all: 16 on the fast host, 8 on the slow one, with LB.",
            ours=f"{odd:.3f} million/s; 12 and 12 with LB {final['Even-LB'][-1]:.3f}; the others at most {best:.3f}.",
            holds=odd >= best,
        ),
    ]


if __name__ == "__main__":
    main()
