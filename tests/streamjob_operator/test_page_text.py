"""A page is read as Prometheus's own client reads it, line by line and never twice in memory."""

from __future__ import annotations

import tracemalloc
from collections import defaultdict

import pytest
from hypothesis import given
from hypothesis import strategies as st
from prometheus_client.core import Metric
from prometheus_client.parser import text_string_to_metric_families

from streamjob_agent import metric_names as names
from streamjob_agent.families import counter, gauge
from streamjob_agent.textformat import render
from streamjob_operator.measure import page_text
from streamjob_operator.measure.page_text import MOST_LINE_BYTES, Labels, TooManyLines, series_of

CONTRACT: dict[str, Labels] = {
    "streamjob_rows_total": ("query", "partition"),
    "streamjob_size_bytes": ("query", "partition"),
    "streamjob_info": ("query",),
    "streamjob_up": (),
}
Series = dict[str, dict[Labels, float]]
words = st.text(st.characters(blacklist_categories=["Cs"], blacklist_characters="\r\n"), max_size=12) | st.sampled_from(
    ['"', "\\", '\\"', "a\\nb", "},{", '} 5 # {a="b"}', "ä\n€", " ", 'a="b",c="d"']
)
values = st.floats(-page_text.MOST_VALUE, page_text.MOST_VALUE)


def as_the_client_reads(page: bytes) -> Series:
    found: Series = defaultdict(dict)
    for family in text_string_to_metric_families(page.decode()):
        for sample in family.samples:
            if sample.name in CONTRACT:
                labels = tuple(sample.labels[label] for label in CONTRACT[sample.name])
                found[sample.name][labels] = float(sample.value)
    return dict(found)


@given(
    st.lists(st.tuples(words, words, values), max_size=6),
    st.lists(st.tuples(words, words, values), max_size=6),
    st.lists(st.tuples(words, words, values), max_size=6),
    values,
)
def test_what_the_agent_writes_is_read_as_prometheus_client_reads_it(
    rows: list[tuple[str, str, float]],
    sizes: list[tuple[str, str, float]],
    strange: list[tuple[str, str, float]],
    up: float,
) -> None:
    families: list[Metric] = [
        counter("streamjob_rows_total", 'Rows, "read"\nso far.', ("query", "partition"), pairs(rows)),
        gauge("streamjob_size_bytes", "Bytes.", ("partition", "query"), pairs(sizes)),  # in another order
        gauge("streamjob_info", "1.", ("query", "name"), pairs(strange)),  # with a label more
        gauge("streamjob_other", "Nobody's.", ("query", "name"), pairs(strange)),
        gauge("streamjob_up", "No labels.", (), [((), up)]),
    ]
    page = render(families)
    assert series_of(page, CONTRACT) == as_the_client_reads(page)


def pairs(rows: list[tuple[str, str, float]]) -> list[tuple[tuple[str, str], float]]:
    return [((first, second), value) for first, second, value in rows]


@pytest.mark.parametrize(
    ("line", "value"),
    [
        (b'streamjob_info{query="q"} 7', 7.0),
        (b'streamjob_info{query="q"} 7 1700000000000', 7.0),
        (b'streamjob_info {query="q",}\t-7e3 ', -7000.0),
        (b'streamjob_info{ query = "q" , name="n" }7\r\n', 7.0),
    ],
)
def test_other_writers_of_the_format_are_read(line: bytes, value: float) -> None:
    page = b"# HELP streamjob_info 1.\n\n  \n" + line
    assert series_of(page, CONTRACT) == {"streamjob_info": {("q",): value}} == as_the_client_reads(page)


@pytest.mark.parametrize(
    "line",
    [
        b'streamjob_info{query="q"}',
        b'streamjob_info{query="q" 7',
        b'streamjob_info{query="q"} seven',
        b'streamjob_info{query="q"} 7_0',
        b'streamjob_info{query="q"} 7 8 9',
        b'streamjob_info{query="q"} NaN',
        b'streamjob_info{query="q"} +Inf',
        b'streamjob_info{query="q"} 1e19',
        b"streamjob_info{query=q} 7",
        b'streamjob_info{query="q",query="r"} 7',
        b'streamjob_info{query="q"r="s"} 7',
        b'streamjob_info{query="q\\"} 7',
        b'streamjob_info{name="q"} 7',
        b"streamjob_info 7",
        b"7",
        b"\xff\xfe{{{ 1 2 3",
        b'{"__name__"="streamjob_info"} 7',
        b'streamjob_info{query="' + MOST_LINE_BYTES * b"q" + b'"} 7',
    ],
    ids=lambda line: str(line[:40]),
)
def test_a_line_that_is_none_is_refused(line: bytes) -> None:
    with pytest.raises((ValueError, KeyError)):
        series_of(b'streamjob_info{query="r"} 7\n' + line + b"\n", CONTRACT)


def test_a_page_of_more_lines_than_any_has_is_not_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(page_text, "MOST_LINES", 3)
    series_of(b"a 1\n" * 3, CONTRACT)
    with pytest.raises(TooManyLines):
        series_of(b"a 1\n" * 4, CONTRACT)


def test_reading_takes_no_more_than_the_page_beside_it() -> None:
    """The client's own reader took five times as much: the text at four bytes a letter, and each sample."""
    contract = dict.fromkeys((names.GROUP_BUSY_SECONDS, names.GROUP_RECORDS, "a", "b", "c"), names.GROUP_LABELS)
    lines = [
        f'{name}{{query="0b5b2c86-7a5d-4b0a-9c5e-2a6b0f6d1a55",operator="0",partition="{partition}"}} {partition}.5\n'
        for name in contract
        for partition in range(4_000)
    ]
    page = "".join(lines).encode()
    tracemalloc.start()
    series = series_of(page, contract)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert sum(map(len, series.values())) == len(lines)
    assert most <= 1.5 * len(page)
