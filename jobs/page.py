"""docs/workloads.md, from the outcomes of the newest run of each job; what none of them tells stays as it is there."""

from __future__ import annotations

import collections
import re
from collections.abc import Iterator, Mapping, Sequence

from jobs.job import Job
from jobs.reading import FILES, KAFKA
from jobs.trial import Kind, Outcome, harms

HEAD = """# Workloads

Jobs of the papers whose planners are here, of benchmarks that everybody knows, and of daily use: ordinary PySpark in
`jobs/`, with input that comes from a seed and an answer that plain Python computes, with Spark's rules for what is late
and when a window closes. A run is *exact* when every row of every batch is right, every query had some row to get
right, no row of the input was left out or taken in twice, and no task failed. *Moves* are of key groups, by StreamJob's
agent, to random executors: after each batch half of the key groups get an owner by chance, so that state moves all the
time.

Batches had a new file of each stream, on three executors of one machine that had other work, too: times say how long
one has to wait, nothing else. "Stages" have key groups of their own, as the agent tells them; state is that of the last
batch.

*Kills*: besides the moves an executor's process gets SIGKILL in mid-batch, and later the driver's, which is started
again and goes on from the checkpoint; its executors are left to themselves. Tasks of the killed fail, so exact is said
of rows alone there. Moves are those of the driver that ended the job, and the time counts its start.

*From Kafka*, a stream is a topic, and a batch takes in as many rows as there are in the largest file of that stream.
Which rows it had is read from the offsets in the query's checkpoint and from the topics themselves, so that the check
is as exact as with files, wherever Spark cut the batches. `python -m e2e.cluster.broker FOLDER` starts a broker on this
machine; `python -m jobs run --help` says what Kafka needs besides.

`make jobs` runs all of them as plain Spark, with moves, then with kills, too, and writes this page; it was last written
on {day}, from the newest run of each job and kind. `python -m jobs all --help` says how to run fewer, and
`python -m jobs fill` runs what a column has as "not run", and writes it.
"""
HARM = """
## Minutes of harm

`make jobs-harm`, or `python -m jobs all --only NAME --minutes 10`: besides the moves all that can befall a job, at
times that a seed chooses. Executors and the driver get SIGKILL in mid-batch; an executor is drained by the agent, let
go when it is empty, and replaced; Kafka's process and the one that serves the file system of all checkpoints (bindfs)
are stopped (SIGSTOP) for 2 to 15 s, whatever the job does then. Without `--batches` the input lasts longer than the
harm, a batch each three seconds at the soonest; `harm.json` in the job's folder has what was done and when. Exact is
said of rows, as with kills; moves are those of the last driver, and an act that could not be done is a difference.

"""
TAIL = """
## Sources

`vwap-bargains` stands for finance: the paper on blocking rates ran on IBM Streams and describes no finance application.

- Published (SPADE: Gedik, Andrade, Wu, Yu, Doo, SIGMOD 2008; IBM's samples "VWAP" and "VwapEventTime"): trades and
  quotes, the volume-weighted average price sum(price * volume) / sum(volume) of a symbol, the join of quotes with it,
  and the index size * exp(VWAP - ask) of a quote whose ask is below it.
- Chosen: intervals of ten seconds in place of the newest trades by count, that a quote is judged by the trades of its
  own interval, whole cents, an index without its fraction, 80 symbols of which others are hot as time goes on, and
  prices that walk.

What the other jobs have of their papers and benchmarks, and what is ours, stands at the head of their files.
"""
PLAIN, MOVED, KILLED, FROM_KAFKA = "plain Spark", "with moves", "with moves and kills", "from Kafka"
"""Columns of outcomes."""
SHAPE = ("operators with state", "stages", "key groups", "state", "input", "output")
"""Columns of what a run with moves tells, or another one where none was with moves."""
NOT_RUN = "not run"
COLUMNS = (
    "job",
    "from",
    "what it does",
    *SHAPE,
    PLAIN,
    MOVED,
    KILLED,
    FROM_KAFKA,
)
HARM_COLUMNS = ("job, streams", "minutes", "given", "outcome")
Outcomes = Mapping[Kind, Outcome]
Cells = Mapping[str, Mapping[str, str]]
"""Of a table of the page: its first cell, as a job's name -> column -> text."""
NAMES = {
    "stateStoreSave": "aggregation",
    "sessionWindowStateStoreSaveExec": "sessions",
    "symmetricHashJoin": "join",
    "dedupe": "deduplication",
    "dedupeWithinWatermark": "deduplication",
    "transformWithStateInPandasExec": "own state",
}


def page(jobs: Sequence[Job], files: Outcomes, kafka: Outcomes, day: str, before: str = "") -> str:
    """The page as Markdown, from runs by source; `before` is the page as it was: its cells stay where nothing is told.

    A job that was never run says so.
    """
    rows = "\n".join(_rows(jobs, files, kafka, cells(before)))
    harm = "\n".join(_harm_rows(jobs, {FILES: files, KAFKA: kafka}, cells(before, HARM_COLUMNS)))
    return HEAD.format(day=day) + "\n" + rows + "\n" + HARM + harm + "\n" + TAIL


def cells(text: str, columns: Sequence[str] = COLUMNS) -> Cells:
    """What a page says of each job; nothing where it is no such page, or one of other columns."""
    rows = [_texts(line) for line in text.splitlines() if line.startswith("|")]
    if tuple(columns) not in rows:
        return {}
    found = (dict(zip(columns, row, strict=True)) for row in rows if len(row) == len(columns))
    return {row[columns[0]].strip("`"): row for row in found}


def column(source: str, moved: bool, killed: bool) -> str:
    """The column of runs of a kind."""
    if source == KAFKA:
        return FROM_KAFKA
    return (KILLED if killed else MOVED) if moved else PLAIN


def _rows(jobs: Sequence[Job], files: Outcomes, kafka: Outcomes, before: Cells) -> Iterator[str]:
    yield _row(COLUMNS)
    yield _row(("---",) * len(COLUMNS))
    for job in jobs:
        plain, moved = (files.get(Kind(job.name, moves, False)) for moves in (False, True))
        plain_kafka, moved_kafka = (kafka.get(Kind(job.name, moves, False)) for moves in (False, True))
        killed = files.get(Kind(job.name, True, True))
        old = before.get(job.name, {})
        told = {PLAIN: plain, MOVED: moved, KILLED: killed, FROM_KAFKA: moved_kafka or plain_kafka}
        verdicts = [old.get(name, NOT_RUN) if one is None else _verdict(one) for name, one in told.items()]
        yield _row((f"`{job.name}`", job.source, job.about, *_shape(moved, plain or told[FROM_KAFKA], old), *verdicts))


def _harm_rows(jobs: Sequence[Job], outcomes: Mapping[str, Outcomes], before: Cells) -> Iterator[str]:
    """A row for each job and source that was harmed by time, and one that says which jobs never were."""
    yield _row(HARM_COLUMNS)
    yield _row(("---",) * len(HARM_COLUMNS))
    never = []
    for job in jobs:
        rows = [_harm_row(job, source, outcomes[source], before) for source in (FILES, KAFKA)]
        yield from filter(None, rows)
        if not any(rows):
            never.append(job.name)
    if never:
        yield ""
        yield f"Not run: {', '.join(f'`{name}`' for name in never)}."


def _harm_row(job: Job, source: str, outcomes: Outcomes, before: Cells) -> str | None:
    """As the page has it where no run tells; None where neither does."""
    name = f"{job.name}, {source}"
    one = outcomes.get(Kind(job.name, True, True, True))
    if one is None:
        old = before.get(name)
        return None if old is None else _row([old[column] for column in HARM_COLUMNS])
    return _row((f"`{name}`", f"{one.minutes:g}", f"{one.rows:,} rows in {one.batches} batches", _verdict(one)))


def _shape(moved: Outcome | None, other: Outcome | None, old: Mapping[str, str]) -> tuple[str, ...]:
    """As the run with moves tells it, which alone knows all of it; else as it was told, else as another run does."""
    known = tuple(old.get(name, "") for name in SHAPE)
    if moved is None and any(known):
        return known
    one = moved or other
    if one is None:
        return known
    rows, size = (sum(getattr(part, name) for part in one.shapes) for name in ("state_rows", "state_bytes"))
    state = f"{rows:,} rows, {size / 1e6:.1f} MB"
    given = f"{one.rows:,} rows in {one.batches} batches"
    operators = "; ".join(_operators(part.operators) for part in one.shapes)
    given_back = f"{sum(part.output_rows for part in one.shapes):,} rows"
    return operators, _number(one.stages), _number(one.key_groups), state, given, given_back


def _number(count: int | None) -> str:
    return "" if count is None else str(count)


def _operators(names: Sequence[str]) -> str:
    counts = collections.Counter(NAMES.get(name, name) for name in names)
    return ", ".join(name if count == 1 else f"{count} {name}s" for name, count in counts.items())


def _verdict(one: Outcome) -> str:
    moves = "" if one.moves is None else f", {one.moves} moves"
    harm = "".join(f", {what}" for what in harms(one))
    wrong = "; ".join(one.differences) or (f"{one.failed_tasks} tasks failed" if one.failed_tasks else "nothing moved")
    return f"{'exact' if one.exact else 'not exact: ' + wrong}{moves}{harm}, {one.took_s:.0f} s"


def _row(texts: Sequence[str]) -> str:
    return "| " + " | ".join(text.replace("|", "\\|").replace("\n", " ") for text in texts) + " |"


def _texts(row: str) -> tuple[str, ...]:
    """The cells of a row, as `_row` got them."""
    return tuple(text.strip().replace("\\|", "|") for text in re.split(r"(?<!\\)\|", row)[1:-1])
