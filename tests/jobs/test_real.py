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
    assert main([*words, "--stream", "bids"]) == 2
    assert "stream: 'bids' given; rod-senders can load packets" in capsys.readouterr().err
