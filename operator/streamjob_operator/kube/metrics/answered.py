"""Whether what answered a question speaks as Prometheus does. Pure."""

from __future__ import annotations

import enum
from typing import Any, TypeGuard


class Samples(enum.Enum):
    """What a series of an answer has, in words; a question decides which."""

    OF_ONE = "one sample"
    OF_TIMES = "samples of several times"


def are_series(result: object, wanted: Samples) -> TypeGuard[list[dict[str, Any]]]:
    """Whether it is a list of labels with samples: of each series the first and the last one are looked at, since
    there may be millions."""
    look = _has_one if wanted is Samples.OF_ONE else _has_several
    return isinstance(result, list) and all(_has_labels(one) and look(one) for one in result)


def _has_labels(series: Any) -> bool:
    labels = series.get("metric") if isinstance(series, dict) else None
    return isinstance(labels, dict) and all(isinstance(value, str) for value in labels.values())


def _has_one(series: dict[str, Any]) -> bool:
    return _is_sample(series.get("value"))


def _has_several(series: dict[str, Any]) -> bool:
    samples = series.get("values")
    return isinstance(samples, list) and bool(samples) and _is_sample(samples[0]) and _is_sample(samples[-1])


def _is_sample(sample: object) -> bool:
    """A time and a number; Prometheus writes the second as text, since JSON has no infinity."""
    if not isinstance(sample, list) or len(sample) != 2:
        return False
    at_s, value = sample
    return isinstance(at_s, int | float) and isinstance(value, str) and _is_number(value)


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
