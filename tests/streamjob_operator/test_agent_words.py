"""What an agent says is one line of a length that people read, and steers nothing that shows it."""

from __future__ import annotations

import dataclasses

from fake_agent import FakeAgent

from streamjob_operator.agent_words import LONGEST_SENTENCE, LONGEST_WORD, shortened


def test_words_of_an_agent_are_one_line_that_steers_nothing() -> None:
    status = FakeAgent(said="off\n2026 INFO all jobs approved\x1b[31m  now").status()
    host = dataclasses.replace(status.executors[0], host="h\x1b]0;mine\x07")
    query = dataclasses.replace(status.queries[0], query_id="q\x1b[2J\n")
    words = shortened(dataclasses.replace(status, executors=(host, *status.executors[1:]), queries=(query,)))
    assert words.queries[0].query_id == "q\ufffd[2J"
    assert words.message == "off 2026 INFO all jobs approved\ufffd[31m now"
    assert words.executors[0].host == "h\ufffd]0;mine\ufffd"
    assert words.executors[1] == status.executors[1]


def test_long_sentences_are_cut() -> None:
    words = shortened(FakeAgent(said="a" * 10**6).status())
    assert words.message == "a" * (LONGEST_SENTENCE - 3) + "..."


def test_names_of_executors_are_as_long_as_words_however_printable() -> None:
    """They stand in sentences and in the memory of a cycle, which is a field of a status."""
    status = FakeAgent().status()
    long = dataclasses.replace(status.executors[0], host="h" * 10**5)
    words = shortened(dataclasses.replace(status, executors=(long, *status.executors[1:])))
    assert words.executors[0].host == "h" * (LONGEST_WORD - 3) + "..."
