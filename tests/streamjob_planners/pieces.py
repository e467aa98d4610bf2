"""Pieces of the compiled loops, each as a loop of its own that Python may call."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

from streamjob_planners.kernel import bundles, fluid, regroup, relay, swing

F = TypeVar("F", bound=Callable[..., object])


def alone(piece: F) -> F:
    """The same loop with a way in from Python. It is not kept on disk, where the piece has its place."""
    loop = cast(Any, piece)
    if not hasattr(loop, "py_func"):
        return piece  # interpreted
    import numba

    wanted = {**loop.targetoptions, "no_cpython_wrapper": False, "cache": False}
    del wanted["nopython"]  # what njit stands for
    return cast(F, numba.njit(**wanted)(loop.py_func))


affordable = alone(relay.affordable)
brought_in = alone(regroup.brought_in)
carry = alone(swing.carry)
cheapest = alone(bundles.cheapest)
cost_of_giving = alone(fluid.cost_of_giving)
drift = alone(relay.drift)
hop = alone(relay.hop)
kick = alone(relay.kick)
list_bundles = alone(bundles.list_bundles)
look_at = alone(bundles.look_at)
saved = alone(regroup.saved)
undo = alone(relay.undo)
walk = alone(relay.walk)
while_few_are_off = alone(relay.while_few_are_off)
whole_price = alone(fluid.whole_price)
