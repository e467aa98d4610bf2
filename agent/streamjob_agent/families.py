"""Metric families from rows of label values and a number."""

from __future__ import annotations

from collections.abc import Iterable

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric

Row = tuple[tuple[str, ...], float]


def counter(name: str, text: str, labels: tuple[str, ...], rows: Iterable[Row]) -> Metric:
    """A counter with a sample for each row."""
    return _fill(CounterMetricFamily(name, text, labels=labels), rows)


def gauge(name: str, text: str, labels: tuple[str, ...], rows: Iterable[Row]) -> Metric:
    """A gauge with a sample for each row."""
    return _fill(GaugeMetricFamily(name, text, labels=labels), rows)


def _fill(family: CounterMetricFamily | GaugeMetricFamily, rows: Iterable[Row]) -> Metric:
    for labels, value in rows:
        family.add_metric(labels, value)
    return family
