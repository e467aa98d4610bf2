"""The real jobs of the ALBIC paper (sections 5.2 and 5.4), simulated: operators, streams, loads that change.

The data sets and the cluster are not here, and the drawings of the topologies are not in the text. So the shape of each
job follows the paper's words; rates and the price of communication are ours and stand at each function.
"""

from __future__ import annotations

import dataclasses

import numpy as np

from benchmarks.worlds import World, even_placement, join_links, link
from streamjob_planners.model import IntArray

WORKERS = 20
WIDTH = 100
"""Key groups per operator: five per node (real job 2)."""
COMMUNICATION_POINTS = 3.0
"""Load at each end of a one-to-one stream that is remote; as much as the work itself, so that real job 2 can halve."""
RATE = 1000.0


def wikipedia_job(seed: int) -> World:
    """Real job 1: three operators of a hundred key groups, all streams fully partitioned, so balance alone counts.

    GeoHash is even; the two TopK operators follow the articles, here log-normal with sigma 0.5.
    """
    rng = np.random.default_rng(seed)
    load = np.concatenate([np.ones(WIDTH), rng.lognormal(0.0, 0.5, 2 * WIDTH)])
    load *= 50.0 * WORKERS / load.sum()
    return World(
        operator_of=np.repeat(np.arange(3), WIDTH),
        base_load=load,
        node_of=even_placement(WORKERS, 3 * WIDTH, rng),
        marked=np.zeros(WORKERS, dtype=np.bool_),
    )


def airline_job(number: int, seed: int) -> World:
    """Real jobs 2, 3 and 4, key groups placed so that as little as possible is together at first.

    2: ExtractDelay -> SumDelay, both by airplane. 3: also ExtractDelay -> RouteDelay, by route. 4: also weather:
    input -> RainScore, joined with RouteDelay by route, then CourierEfficiency, and stores behind both branches.
    """
    one, full = _streams(number)
    n_operators = 1 + max(max(first, second) for first, second, _ in (*one, *full))
    rng = np.random.default_rng([number, seed])
    everyone, nobody = np.arange(WIDTH), np.arange(0)
    links = [link(a * WIDTH, b * WIDTH, WIDTH, everyone, RATE * rate) for a, b, rate in one]
    links += [link(a * WIDTH, b * WIDTH, WIDTH, nobody, RATE * rate) for a, b, rate in full]
    n_groups = n_operators * WIDTH
    work = COMMUNICATION_POINTS * rng.uniform(0.9, 1.1, n_groups)
    return World(
        operator_of=np.repeat(np.arange(n_operators), WIDTH),
        base_load=work,
        node_of=_apart(n_operators),
        marked=np.zeros(WORKERS, dtype=np.bool_),
        traffic=join_links(links, n_groups),
        traffic_load_ratio=COMMUNICATION_POINTS / RATE,
    )


def _streams(number: int) -> tuple[list[tuple[int, int, float]], list[tuple[int, int, float]]]:
    """One-to-one and fully partitioned streams: sender, receiver, rate over RATE.

    Operators: 0 ExtractDelay, 1 SumDelay, 2 RouteDelay, 3 StoreDelay, 4 WeatherInput, 5 RainScore, 6 Join,
    7 CourierEfficiency, 8 StoreEfficiency. Results are fewer than inputs, so the stores get a fifth.
    """
    if number == 2:
        return [(0, 1, 1.0)], []
    if number == 3:
        return [(0, 1, 1.0)], [(0, 2, 1.0)]
    if number == 4:
        one = [(0, 1, 1.0), (1, 3, 0.2), (4, 5, 0.5), (2, 6, 1.0), (7, 8, 0.2)]
        return one, [(0, 2, 1.0), (5, 6, 0.25), (6, 7, 0.5)]
    raise ValueError(f"number: {number} given, the airline jobs are 2, 3 and 4")


def _apart(n_operators: int) -> IntArray:
    """Key group i of operator k on node i + k: partners are never together, every node holds as many."""
    return np.concatenate([(np.arange(WIDTH) + shift) % WORKERS for shift in range(n_operators)])


def fluctuated(world: World, rng: np.random.Generator, sigma: float) -> World:
    """The next period: each key group's work drifts by a log-normal step, the total stays."""
    load = world.base_load * rng.lognormal(0.0, sigma, world.base_load.size)
    return dataclasses.replace(world, base_load=load * world.base_load.sum() / load.sum())
