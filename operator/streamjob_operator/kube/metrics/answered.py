"""Whether what answered a question speaks as Prometheus does. Pure."""

from __future__ import annotations

import enum
import itertools
import operator
from collections import deque
from collections.abc import Iterable
from typing import Any, TypeGuard


class Samples(enum.Enum):
    """What a series of an answer has, in words; a question decides which."""

    OF_ONE = "one sample"
    OF_TIMES = "samples of several times"


_LISTS, _OBJECTS, _TEXTS, _TIMES = frozenset((list,)), frozenset((dict,)), frozenset((str,)), frozenset((int, float))
"""Kinds of what JSON becomes."""
_METRIC, _FIRST, _LAST = operator.itemgetter("metric"), operator.itemgetter(0), operator.itemgetter(-1)


def are_series(result: object, wanted: Samples) -> TypeGuard[list[dict[str, Any]]]:
    """Whether it is a list of labels with samples: of each series the first and the last one are looked at, since
    there may be millions. All series are asked at once, by what they have."""
    if not isinstance(result, list) or not _all(result, _OBJECTS):
        return False
    what = "value" if wanted is Samples.OF_ONE else "values"
    try:
        labels, told = list(map(_METRIC, result)), list(map(operator.itemgetter(what), result))
    except KeyError:
        return False
    if not _all(labels, _OBJECTS) or not _all(itertools.chain.from_iterable(map(dict.values, labels)), _TEXTS):
        return False
    if wanted is Samples.OF_ONE:
        return _are_samples(told)
    if not _all(told, _LISTS) or not all(told):
        return False
    return _are_samples(list(map(_FIRST, told))) and _are_samples(list(map(_LAST, told)))


def _are_samples(samples: list[Any]) -> bool:
    """Times and numbers; Prometheus writes the second as text, since JSON has no infinity."""
    if not _all(samples, _LISTS) or not {2}.issuperset(map(len, samples)):
        return False
    return _all(map(_FIRST, samples), _TIMES) and _are_numbers(list(map(_LAST, samples)))


def _are_numbers(texts: list[Any]) -> bool:
    if not _all(texts, _TEXTS):
        return False
    try:
        deque(map(float, texts), maxlen=0)
    except ValueError:
        return False
    return True


def _all(values: Iterable[object], kinds: frozenset[type]) -> bool:
    return kinds.issuperset(map(type, values))
