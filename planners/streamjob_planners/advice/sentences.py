"""Advice in sentences for the person who wrote the query."""

from __future__ import annotations

from streamjob_planners.advice.values import AsRows, Need, Rewrite, ShuffleNote

STRICT = "spark.sql.streaming.statefulOperator.useStrictDistribution"
WHY = {
    Need.FIRST: "Needed: rows come from the source and have to be brought to their keys once.",
    Need.SINK: "Asked for by the query after its last stateful operator.",
    Need.TWICE: "Of no use to an operator: rows are shuffled again before one sees them.",
    Need.NO_KEY: "Needed: an operator without a key takes all rows in one place.",
    Need.APART: "Needed: the keys on both sides share no column.",
    Need.ELSEWHERE: "Could be spared, but then other shuffles that carry more could not.",
    Need.ORDER: "Not needed: both sides have the same key columns, in another order.",
    Need.SHARED: "Not needed: both sides can be spread by the columns that their keys share.",
}


def amount(size_bytes: float | None) -> str:
    """Bytes for a person: 3 digits, 4 from 1000 on, and a unit."""
    if size_bytes is None:
        return "unknown"
    value, unit = size_bytes, "B"
    for larger in ("KiB", "MiB", "GiB", "TiB"):
        if abs(value) < 1024.0:
            break
        value, unit = value / 1024.0, larger
    return f"{value:.0f} {unit}" if unit == "B" or abs(value) >= 999.5 else f"{value:.3g} {unit}"


def why(note: ShuffleNote) -> str:
    """Why this shuffle is there, or why it need not be."""
    return WHY[note.need]


def headline(rewrite: Rewrite, partitions: int) -> str:
    """What to change in the query; `partitions` is the number of partitions of its operators."""
    names = ", ".join(rewrite.columns)
    operators = _listed(rewrite.operators)
    if rewrite.need is Need.TWICE:
        return f"Leave out the repartition that makes shuffle {rewrite.shuffles[0]}, unless work before needs it."
    if rewrite.need is Need.ORDER:
        return f"Group operators {operators} by the same columns in the same order: {names}."
    place = f" before {_operators(rewrite.before)}"
    columns = ", ".join(f'"{column}"' for column in rewrite.columns)
    spread = f"Put .repartition({partitions}, {columns}){place} and set" if rewrite.before else "Set"
    return f"Key operators {operators} alike, by {names}. {spread} {STRICT} to false before the first start."


def effect(rewrite: Rewrite) -> str:
    """What it saves and costs."""
    shuffles = "1 shuffle" if len(rewrite.shuffles) == 1 else f"{len(rewrite.shuffles)} shuffles"
    said = f"{shuffles} less a batch"
    if rewrite.saved_bytes is not None:
        said += f", which carries {amount(rewrite.saved_bytes)}"
        said += "" if rewrite.saved_s is None else f" and takes {rewrite.saved_s:.3g} s of tasks"
    if rewrite.as_rows is not None:
        return f"{said}. {_rows_for_sums(rewrite, rewrite.as_rows)}"
    if not rewrite.worth_it:
        said += ": not worth it"
    return said + "."


def _rows_for_sums(rewrite: Rewrite, there: AsRows) -> str:
    """What the shuffles that stay have to carry, and how wide a row may be for it."""
    said = f"Before {_operators(rewrite.before)} rows are shuffled as they come: {there.rows:,.0f} of them in place of "
    said += f"{there.sums:,.0f} sums of {there.sum_bytes:.1f} B."
    if rewrite.even_row_bytes is None:
        return said
    narrow = f"a row takes less than {rewrite.even_row_bytes:.1f} B there"
    if rewrite.worth_it:
        return f"{said} Less is shuffled in all if {narrow}, which nobody measured."
    return f"{said} Not worth it, unless {narrow}."


def cautions(rewrite: Rewrite) -> tuple[str, ...]:
    """What to know before doing it."""
    if rewrite.need is Need.TWICE:
        return ()
    said = ["It changes where state is kept: start the changed query with a new checkpoint."]
    if rewrite.need is Need.SHARED:
        said.append(f"All rows of one value of {', '.join(rewrite.columns)} go to one task: look at its skew first.")
        said.append(
            "Spark then trusts the query to spread its rows alike for ever: never take the repartition out, nor change "
            "its columns or number, while the checkpoint is used."
            if rewrite.before
            else "Spark then trusts the query to spread its rows alike for ever: keep its operators as they are."
        )
    if rewrite.state_bytes is not None:
        said.append(f"Their {amount(rewrite.state_bytes)} of state in memory move together, partition by partition.")
    return tuple(said)


def _operators(numbers: tuple[int, ...]) -> str:
    return f"operator{'s' if len(numbers) > 1 else ''} {_listed(numbers)}"


def _listed(numbers: tuple[int, ...]) -> str:
    words = [str(one) for one in numbers]
    return " and ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)
