"""What the operator keeps of a StreamJob goes away with it, whether it saw it go or not."""

from __future__ import annotations

import asyncio
import dataclasses
from collections.abc import Collection, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from worlds import even, job

from streamjob_operator.agent_http.turns import Turns
from streamjob_operator.kube.api.kinds import PARTITION_MAPS, PODS, STREAM_JOBS, Kind
from streamjob_operator.kube.job.quotas import ANY, Quotas
from streamjob_operator.kube.job.rest import Rest
from streamjob_operator.kube.process.fair_pool import Threads
from streamjob_operator.kube.process.handlers import Changes
from streamjob_operator.kube.process.jobs import Jobs
from streamjob_operator.kube.process.telemetry import Telemetry
from streamjob_operator.kube.watched.relist import make_stores
from streamjob_operator.places import REMEMBERED, Places

ROUNDS = 12
JOBS = 3
OURS = "streamjob_operator"


class Keeper:
    """What `Keeper` forgets, in the way it does; a turn ends the care of a job that is gone."""

    def __init__(self, operator: Operator, namespace: str, name: str) -> None:
        self._operator, self._namespace, self._name = operator, namespace, name

    def turn(self, *, cycle: bool) -> Rest:
        there = self._operator.stores[STREAM_JOBS].get(self._namespace, self._name)
        return None if there is None else 0.01

    def fail(self, sentence: str) -> None:
        raise AssertionError(sentence)

    def close(self) -> None:
        self._operator.forget(self._namespace, self._name)


class Operator:
    """All that the operator's process has for all jobs, without kopf, an API server and cycles."""

    def __init__(self, pool: ThreadPoolExecutor) -> None:
        self.stores = make_stores()
        self.telemetry = Telemetry()
        self.quotas = Quotas({ANY: 100}, self.stores[STREAM_JOBS])
        self.turns = Turns()
        threads = Threads(executor=pool, size=2)
        self.jobs = Jobs(lambda *key: Keeper(self, *key), threads, threads)
        self.changes = Changes(self.jobs, self.stores)
        self.version = 0

    def forget(self, namespace: str, name: str) -> None:
        self.telemetry.forget(namespace, name)
        self.quotas.forget(namespace)

    def see(self, kind: Kind, namespace: str, name: str, event: str, **parts: Any) -> None:
        self.version += 1
        metadata = {"namespace": namespace, "name": name, "uid": f"u{self.version}", "resourceVersion": self.version}
        found = {"metadata": {**metadata, **parts.pop("metadata", {})}, **parts}
        tell = {STREAM_JOBS: self.changes.job, PARTITION_MAPS: self.changes.map, PODS: self.changes.pod}[kind]
        tell({"type": event, "object": found})

    def objects(self, namespace: str, name: str, event: str) -> None:
        """A job that adopts, its map, its driver and an executor: they come, or go."""
        reference = {"kind": "Pod", "name": f"{name}-driver"}
        self.see(
            STREAM_JOBS, namespace, name, event, spec={"applicationRef": reference, "executors": {"min": 1, "max": 9}}
        )
        self.see(PARTITION_MAPS, namespace, name, event, status={"applicationId": f"app-{namespace}-{name}"})
        for role in ("driver", "executor"):
            labels = {"spark-role": role, "spark-app-selector": f"app-{namespace}-{name}"}
            self.see(PODS, namespace, f"{name}-{role}", event, metadata={"labels": labels}, spec={}, status={})

    def cycle(self, namespace: str, name: str) -> None:
        """What a cycle leaves behind beside its status."""
        of = job(("name: small", f"name: {name}"))
        even(2, 4, 30.0).turn(of, reporters=(self.telemetry.reporter(namespace, of),))
        quota = self.quotas.of(namespace, of)
        assert quota is not None
        quota.allow(1, 3, 1, follows=True)

    def relisted(self) -> None:
        """Nothing is there any more, as a list of everything has it."""
        for store in self.stores.values():
            store.relisted(set(), self.version, None)
        self.changes.settle()


async def churned(rounds: int, *, seen: bool) -> dict[str, int]:
    """Entries of each of the operator's containers after jobs came and went in namespaces of their own."""
    with ThreadPoolExecutor(2) as pool:
        operator = Operator(pool)
        for turn in range(rounds):
            keys = [(f"team-{turn}", f"job-{one}") for one in range(JOBS)]
            for key in keys:
                operator.objects(*key, "ADDED")
                operator.cycle(*key)
            while len(operator.jobs) < JOBS:
                await asyncio.sleep(0.01)
            for key in keys if seen else ():
                operator.objects(*key, "DELETED")
            operator.relisted()
            while len(operator.jobs):
                await asyncio.sleep(0.01)
        # The last ones still let go of what was theirs.
        await asyncio.gather(*(task for task in asyncio.all_tasks() if task.get_name().startswith("job ")))
        return dict(containers(operator))


def containers(root: object) -> Iterator[tuple[str, int]]:
    """Size of each container of our own objects, by the path that leads there."""
    left, known = [("", root)], {id(root)}
    while left:
        path, one = left.pop()
        if isinstance(one, Collection) and not isinstance(one, str | bytes):
            yield path, len(one)
        parts = one.values() if isinstance(one, Mapping) else one if isinstance(one, list | tuple | set) else ()
        named = [(f"{path}[]", part) for part in parts] + [(f"{path}.{name}", part) for name, part in fields(one)]
        for name, part in named:
            if id(part) not in known:
                known.add(id(part))
                left.append((name, part))


def fields(one: object) -> list[tuple[str, object]]:
    if not type(one).__module__.startswith((OURS, __name__)):
        return []
    if dataclasses.is_dataclass(one):
        return [(field.name, getattr(one, field.name)) for field in dataclasses.fields(one)]
    return list(getattr(one, "__dict__", {}).items())


@pytest.mark.parametrize("seen", [True, False], ids=["seen to go", "gone while no watch was open"])
def test_nothing_grows_with_the_jobs_that_were(seen: bool) -> None:
    few, many = (asyncio.run(asyncio.wait_for(churned(rounds, seen=seen), 60.0)) for rounds in (2, ROUNDS))
    bounded = "._places._last"  # see the test below
    grown = {path: (few.get(path, 0), size) for path, size in many.items() if size > few.get(path, 0)}
    assert [path for path in grown if not path.endswith(bounded)] == []
    assert any(path.endswith("._marks") for path in many)  # it has looked where such things are kept


def test_namespaces_that_had_a_place_are_forgotten_one_day() -> None:
    places = Places(1)
    for one in range(REMEMBERED + 5):
        places.take(f"team-{one}")
        places.leave(f"team-{one}")
    assert [places.last(f"team-{one}") for one in (0, 4, 5)] == [0, 0, 6]
    assert len(places._last) == REMEMBERED
