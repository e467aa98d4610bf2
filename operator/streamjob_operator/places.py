"""Places that namespaces share: who may take one, and who comes first. Pure."""

from __future__ import annotations

from collections import Counter, OrderedDict

from streamjob_operator.tally import one_less

REMEMBERED = 1000
"""Namespaces whose newest place is remembered, of however many there were: whoever is forgotten counts as new."""


class Places:
    """So many places, and who has them.

    The next one is for the namespace that has fewest, then for that which has had none for longest. Where they are
    shared by several namespaces, one takes a further place only while it has fewer than are free: the first has half
    of them at most, the next one half of the rest, and the last one is for whoever has none (the dynamic threshold of
    Choudhury and Hahne, IEEE/ACM Transactions on Networking 6(2), 1998, for the buffers of a switch).
    """

    def __init__(self, size: int) -> None:
        self.size = self.free = size
        self._taken: Counter[str] = Counter()
        self._given = 0
        # Of each namespace, how many places had been given when it got its newest.
        self._last: OrderedDict[str, int] = OrderedDict()

    def may(self, namespace: str, *, shared: bool, spare: int = 0) -> bool:
        """Whether it may take one; where places are not shared, so many are left free to whoever may come."""
        return self.free > (self._taken[namespace] if shared else spare)

    def has(self, namespace: str) -> int:
        """Places that it has."""
        return self._taken[namespace]

    def last(self, namespace: str) -> int:
        """When it was given its newest place, in places given; 0 for never."""
        return self._last.get(namespace, 0)

    def order(self, namespace: str, *, asked: bool) -> tuple[int, bool, int]:
        """Who has least comes first; of those that have as few, one that a person waits in."""
        return self.has(namespace), not asked, self.last(namespace)

    def take(self, namespace: str) -> None:
        """One more is its own."""
        self._taken[namespace] += 1
        self.free -= 1
        self._given += 1
        self._last[namespace] = self._given
        self._last.move_to_end(namespace)  # the first one is whose place is longest ago
        if len(self._last) > REMEMBERED:
            self._last.popitem(last=False)

    def leave(self, namespace: str) -> None:
        """One less is."""
        one_less(self._taken, namespace)
        self.free += 1
