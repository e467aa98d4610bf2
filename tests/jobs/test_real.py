"""Lines as the publishers' own descriptions show them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from jobs import real
from jobs.__main__ import main
from jobs.feed import read_rows
from jobs.registry import JOBS

EDITS = """REVISION 12 18201 Anarchism 2002-02-25T15:00:22Z ip:Conversion_script ip:Conversion_script
CATEGORY American_Anarchists
MAIN Anarcho-capitalism Anarcho-syndicalism
REVISION 12 19746 Anarchism 2002-02-25T15:43:11Z Graham 26
"""
FLIGHTS = """Year,Month,DayofMonth,CRSDepTime,UniqueCarrier,TailNum,CRSElapsedTime,ArrDelay,Origin,Dest
2008,1,3,1955,WN,N712SW,150,-14,IAD,TPA
2008,1,3,735,WN,N772SW,145,NA,IAD,TPA
2008,1,3,620,WN,N428WN,90,14,IND,BWI
"""
PACKETS = """0.010445 2 1 2436 23 2
0.023775 1 2 23 2436 2
# a remark
"""


def test_edits_have_the_same_places_in_every_run() -> None:
    rows = list(real.wikipedia_edits(EDITS.splitlines()))
    assert [(row["article"], row["at_ms"]) for row in rows] == [(12, 1_014_649_222_000), (12, 1_014_651_791_000)]
    assert rows == list(real.wikipedia_edits(EDITS.splitlines()))


def test_flights_without_a_delay_are_left_out() -> None:
    first, second = real.airline_on_time(FLIGHTS.splitlines())
    assert first["at_ms"] == 1_199_390_100_000
    assert (first["plane"], first["arrived_min"] - first["expected_min"], first["year"]) == ("N712SW", -14, 2008)
    assert (second["origin"], second["destination"], second["arrived_min"]) == ("IND", "BWI", 104)


def test_packets_have_milliseconds_of_the_trace() -> None:
    first, second = real.tcp_trace(PACKETS.splitlines())
    assert (first["source"], first["target_port"], first["bytes"], first["at_ms"]) == (2, 23, 2, 10)
    assert second["at_ms"] == 24


TORN = {
    "edits": "REVISION 12 18202 Two words 2002-02-25T15:00:22Z Graham 26\nREVISION x 1 A 2002-02-25T15:00:22Z G 1\n",
    "flights": "2008,2,30,620,WN,N428WN,90,14,IND,BWI\n2008,1,3,NA,WN,N428WN,90,14,IND,BWI\n2008,1,3,620,WN,N4",
    "packets": "a remark of exactly six words\n0.1 1 2 ? 2436 2\n",
}
"""Lines that are no records, the last one cut short with its file."""


@pytest.mark.parametrize(("stream", "text"), [("edits", EDITS), ("flights", FLIGHTS), ("packets", PACKETS)])
def test_a_line_that_is_no_record_is_left_out(stream: str, text: str) -> None:
    whole = list(real.LOADERS[stream](text.splitlines()))
    assert list(real.LOADERS[stream]((text + TORN[stream]).splitlines())) == whole


def test_a_file_of_other_columns_is_told() -> None:
    with pytest.raises(ValueError, match=r"file: no column Year, .* in its head; the Data Expo's files have "):
        list(real.airline_on_time(["FL_DATE,OP_UNIQUE_CARRIER", "2009-01-01,AA"]))


def test_rows_come_by_their_time_however_many_there_are(tmp_path: Path) -> None:
    """An archive has an article after another, each with all of its years: in that order all but one come late."""
    times = [5, 1, 9, 1, 7, 3, 0]
    rows = [{"article": at, "at_ms": time} for at, time in enumerate(times)]
    for at_once in (1, 3, 100):
        found = list(real.in_order(iter(rows), tmp_path, at_once))
        assert found == sorted(rows, key=lambda row: row["at_ms"])
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(("stream", "text"), [("edits", EDITS), ("flights", FLIGHTS), ("packets", PACKETS)])
def test_rows_fit_every_job_that_has_the_stream(stream: str, text: str) -> None:
    schemas = [job.streams[stream] for job in JOBS if stream in job.streams]
    for row in real.LOADERS[stream](text.splitlines()):
        kinds = {name: {str: "string", int: "long"}[type(value)] for name, value in row.items()}
        assert all(dict(re.findall(r"(\w+) (\w+)", schema)) == kinds for schema in schemas)


def test_a_file_becomes_batches(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "trace"
    file.write_text(PACKETS)
    words = ["load", "rod-senders", "--file", str(file), "--input", str(tmp_path / "in"), "--rows", "1"]
    assert main([*words, "--stream", "packets"]) == 0
    assert [len(read_rows(one)) for one in sorted((tmp_path / "in" / "packets").iterdir())] == [1, 1]
    assert "2 rows of packets in 2 batches" in capsys.readouterr().out
    assert main([*words, "--stream", "bids"]) == 2
    assert "stream: 'bids' given; rod-senders can load packets" in capsys.readouterr().err


def test_a_second_file_comes_after_the_first(tmp_path: Path) -> None:
    """There is one for each year."""
    for name, at_s in (("one", 1), ("two", 2)):
        (tmp_path / name).write_text(f"{at_s}.0 1 2 3 4 5\n")
        words = ["load", "rod-senders", "--stream", "packets", "--input", str(tmp_path / "in")]
        assert main([*words, "--file", str(tmp_path / name)]) == 0
    first, second = sorted((tmp_path / "in" / "packets").iterdir())
    assert [read_rows(first)[0]["at_ms"], read_rows(second)[0]["at_ms"]] == [1000, 2000]
    assert first.stat().st_mtime < second.stat().st_mtime


def test_what_cannot_be_loaded_is_a_sentence(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file, words = tmp_path / "trace", ["load", "rod-senders", "--stream", "packets", "--input", str(tmp_path / "in")]
    file.write_text(EDITS)
    for more, sentence in (
        (["--file", str(file)], f"file: {file} given; no line of it is a record for packets."),
        (["--file", str(file), "--rows", "0"], "rows: 0 given; a batch has 1 or more."),
        (["--file", str(tmp_path / "none")], f"file: {tmp_path / 'none'} given; there is no such file."),
    ):
        assert main([*words, *more]) == 2
        assert sentence in capsys.readouterr().err
