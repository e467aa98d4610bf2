import dataclasses

import numpy as np
import pytest
from scipy import sparse
from worlds import World, even, job

from streamjob_operator.memory import from_json, to_json
from streamjob_operator.steps.estimate import estimate
from streamjob_operator.steps.learn import MOST_MOVED, learn, moved_rows
from streamjob_operator.values import Memory, Snapshot
from streamjob_planners.collocation.remote_cost import seconds_per_byte
from streamjob_planners.model import GroupId

COST = 1e-7
PAIRS = 40


def snapshot(taken_at_s: float = 1000.0, seed: int = 0) -> Snapshot:
    """Group i of operator 0 sends 1 MB to group i of operator 1; half of the pairs are apart and cost their reader."""
    rng = np.random.default_rng(seed)
    apart = rng.permutation(PAIRS) < PAIRS // 2
    senders = np.arange(PAIRS) % 4
    readers = (senders + apart) % 4
    owners = [str(one) for one in (*senders.tolist(), *readers.tolist())]
    sizes = 1e6 * rng.uniform(0.5, 1.5, PAIRS)
    traffic = sparse.csr_array((sizes, (np.arange(PAIRS), PAIRS + np.arange(PAIRS))), shape=(2 * PAIRS, 2 * PAIRS))
    world = World(loads=[0.0] * 2 * PAIRS, owners=owners, executors=dict.fromkeys("0123", "ready"), traffic=traffic)
    busy_s = np.concatenate([np.full(PAIRS, 0.5), 0.2 + 1e-7 * sizes + COST * apart * sizes])
    ids = tuple(GroupId(operator=at // PAIRS, partition=at % PAIRS) for at in range(2 * PAIRS))
    records = np.concatenate([sizes, sizes]) / 100.0
    seen = world.observe(taken_at_s, 10.0)
    read = np.concatenate([np.zeros(PAIRS), sizes])
    remote = np.concatenate([np.zeros(PAIRS), apart * sizes])
    return dataclasses.replace(
        seen, group_ids=ids, busy_s=busy_s, records=records, read_bytes=read, remote_read_bytes=remote
    )


def cost(memory: Memory) -> float:
    return 0.0 if memory.remote_reads is None else seconds_per_byte(memory.remote_reads)


def test_what_remote_reads_cost_is_learned_and_enters_the_model() -> None:
    memory = learn(Memory(), snapshot())
    assert cost(memory) == pytest.approx(COST, rel=0.01)
    model = estimate(snapshot(), memory).model
    assert model.traffic_load_ratio == pytest.approx(100.0 * COST / 2.0, rel=0.01)
    assert estimate(snapshot(), Memory()).model.traffic_load_ratio == 0.0
    assert estimate(snapshot(), memory, collocate=False).model.traffic is None


def test_a_window_is_taken_in_once() -> None:
    memory = learn(Memory(), snapshot())
    assert learn(memory, snapshot()) is memory
    assert learn(memory, snapshot(taken_at_s=1010.0)).remote_reads != memory.remote_reads


def test_nothing_is_learned_while_moves_are_under_way_or_when_nobody_tells_what_was_read() -> None:
    assert learn(Memory(), dataclasses.replace(snapshot(), moves_pending=3)) == Memory()
    assert learn(Memory(), dataclasses.replace(snapshot(), remote_read_bytes=None)) == Memory()
    assert learn(Memory(), dataclasses.replace(snapshot(), read_bytes=np.zeros(2 * PAIRS))) == Memory()


def test_every_read_counts_not_the_heavy_pairs_alone() -> None:
    """A shuffle of all with all has no heavy pair, and its remote reads cost all the same."""
    even_one = dataclasses.replace(snapshot(), traffic_bytes=None)
    assert cost(learn(Memory(), even_one)) == pytest.approx(COST, rel=0.01)


def test_key_groups_that_moved_are_left_out() -> None:
    """Their load time would spoil the figures: here it is absurdly large."""
    one = snapshot()
    moved = tuple(f"1/{at}" for at in range(5))
    busy_s = one.busy_s.copy()
    busy_s[PAIRS : PAIRS + 5] += 50.0
    spoiled = dataclasses.replace(one, busy_s=busy_s)
    memory = Memory(acted_at_s=995.0, moved=moved)
    assert cost(learn(memory, spoiled)) == pytest.approx(COST, rel=0.01)
    assert cost(learn(Memory(), spoiled)) == 0.0


def test_moves_from_before_the_window_do_not_count() -> None:
    memory = Memory(acted_at_s=980.0, moved=("1/0",))
    rows = moved_rows(memory, snapshot())
    assert rows is not None
    assert not rows.any()


def test_after_a_plan_too_large_to_remember_a_window_teaches_nothing() -> None:
    memory = Memory(acted_at_s=995.0, moved=None)
    assert learn(memory, snapshot()) is memory


def test_the_cycle_remembers_what_it_moved() -> None:
    world, of = even(executors=2, groups_each=4, load=10.0), job()
    world.owners = ["0"] * 8
    records = [world.turn(of) for _ in range(2)]
    plan, memory = records[-1].verdict.plan, records[-1].memory
    assert plan is not None
    assert memory is not None
    assert memory.moved is not None
    assert 0 < len(plan.moves) <= MOST_MOVED
    assert set(memory.moved) == {f"0/{move.group}" for move in plan.moves}


def test_evidence_survives_a_restart() -> None:
    memory = learn(Memory(moved=("1/2",)), snapshot())
    assert from_json(to_json(memory)) == memory
