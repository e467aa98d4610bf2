"""Where the key groups of one query ran last, beside where they are wanted, brought up to date by what has changed.

What a round tells of them, the number that each executor holds and the owners of each operator's partitions, would be
found out from all groups each time: in a batch of many tasks nearly all of them are where they were a round ago.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping

from streamjob_agent.wire import GroupKey

Rows = dict[int, tuple[str | None, ...]]


class Whereabouts:
    """Used by the agent's thread alone."""

    def __init__(self) -> None:
        self._observed: Mapping[GroupKey, str] = {}
        self._registered: Mapping[GroupKey, str] = {}
        self._news: set[GroupKey] | None = None
        self._apart: set[GroupKey] = set()  # observed elsewhere than they are registered, if they are
        self._ran: Counter[str] = Counter()  # executor -> groups that ran there last
        self._held: Counter[str] = Counter()  # executor -> groups that ran there last or are registered there
        self._rows: dict[int, list[str | None]] = {}  # operator -> where each partition ran last
        self._shown: tuple[Mapping[GroupKey, str], Rows] | None = None

    def update(
        self,
        observed: Mapping[GroupKey, str],
        moved_from: Mapping[GroupKey, str | None] | None,
        registered: Mapping[GroupKey, str],
    ) -> None:
        """Take in where groups ran and are wanted now.

        `moved_from` are those that may be observed elsewhere than at the last call, with the executor of then, None for
        none; None: any may be. Takes O(groups in `moved_from`) where `registered` is the same object as then.
        """
        before, self._observed = self._registered, observed
        self._registered = registered
        if moved_from is None:
            self._news, self._rows, self._shown = None, {}, None
            self._count()
            return
        moved = {key: ran for key, ran in moved_from.items() if ran != observed[key]}
        if registered is not before:
            self._count()
        else:
            for key, ran in moved.items():
                self._recount(key, ran, observed[key])
        for key in moved:
            _put(self._rows, key, observed[key])
        self._shown = None if moved else self._shown
        if self._news is not None:
            self._news |= moved.keys()

    def news(self) -> Collection[GroupKey] | None:
        """The groups that may be observed elsewhere than at the last call; None: any may be."""
        news, self._news = self._news, set()
        return news

    @property
    def apart(self) -> Mapping[GroupKey, str]:
        """Where groups ran last that are registered elsewhere, or nowhere."""
        return {key: self._observed[key] for key in self._apart}

    @property
    def executors(self) -> Collection[str]:
        """Where any group ran last."""
        return self._ran.keys()

    def held(self, obeying: Collection[GroupKey]) -> Counter[str]:
        """Executor -> groups that ran there last or are registered there; of the `obeying` ones only the latter count.

        They must be among those that are apart.
        """
        held = self._held.copy()
        held.subtract(self._observed[key] for key in obeying if self._registered.get(key))
        return held

    def rows(self, operators: Mapping[int, int], elsewhere: Mapping[GroupKey, str]) -> Rows:
        """Operator -> where each partition ran last, None before its first task, some of them as `elsewhere` says."""
        if {operator: len(row) for operator, row in self._rows.items()} != operators:
            self._rows, self._shown = {operator: [None] * count for operator, count in operators.items()}, None
            for key, ran in self._observed.items():
                _put(self._rows, key, ran)
        if self._shown is None or self._shown[0] != elsewhere:
            patched = {operator: list(row) for operator, row in self._rows.items()} if elsewhere else self._rows
            for key, owner in elsewhere.items():
                _put(patched, key, owner)
            self._shown = (elsewhere, {operator: tuple(row) for operator, row in patched.items()})
        return self._shown[1]

    def _count(self) -> None:
        """Everything anew."""
        observed, registered = self._observed, self._registered
        self._ran = Counter(observed.values())
        self._held, self._apart = self._ran.copy(), set()
        if observed != registered:  # else it is found out in a tenth of the time
            self._apart = {key for key, ran in observed.items() if registered.get(key) != ran}
            self._held.update(owner for key, owner in registered.items() if observed.get(key) != owner)

    def _recount(self, key: GroupKey, before: str | None, ran: str) -> None:
        """The group's newest task ran elsewhere than the one before it."""
        wanted = self._registered.get(key)
        self._ran[ran] += 1
        self._held[ran] += ran != wanted
        if before is not None:
            _less(self._ran, before)
            if before != wanted:
                _less(self._held, before)
        if ran == wanted:
            self._apart.discard(key)
        else:
            self._apart.add(key)


def _less(counts: Counter[str], name: str) -> None:
    counts[name] -= 1
    if not counts[name]:
        del counts[name]


def _put(rows: Mapping[int, list[str | None]], key: GroupKey, owner: str) -> None:
    row = rows.get(key.operator)
    if row is not None and key.partition < len(row):
        row[key.partition] = owner
