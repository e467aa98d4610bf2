"""Advice as tables and sentences for a terminal, and as a JSON document."""

from __future__ import annotations

import dataclasses
from typing import Any

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from streamjob_agent.plan_form import QueryPlan
from streamjob_planners.advice import sentences, too_heavy
from streamjob_planners.advice.too_heavy import HeavyGroup
from streamjob_planners.advice.values import Advice, JobPlan, Rewrite, ShuffleNote


def render(query: QueryPlan, plan: JobPlan, advice: Advice, heavy: tuple[HeavyGroup, ...]) -> RenderableType:
    """What one query's plan costs, and what to change."""
    title = Text(f"{query.name or query.query_id}: means of {query.batches} batches on this plan")
    lines = [Text(one) for one in (*_advice(plan, advice), *map(too_heavy.sentence, heavy))]
    return Group(title, _operators(plan, advice), _shuffles(advice), *lines)


def document(query: QueryPlan, plan: JobPlan, advice: Advice, heavy: tuple[HeavyGroup, ...]) -> dict[str, Any]:
    """All of it, with the sentences, for another program."""
    return {
        "query_id": query.query_id,
        "name": query.name,
        "batches": query.batches,
        "operators": [dataclasses.asdict(one) for one in plan.operators],
        "components": [list(members) for members in advice.components],
        "shuffles": [
            {**dataclasses.asdict(note.shuffle), "need": note.need.value, "why": sentences.why(note)}
            for note in advice.notes
        ],
        "rewrites": [
            {
                **dataclasses.asdict(one),
                "need": one.need.value,
                "net_bytes": one.net_bytes,
                "even_row_bytes": one.even_row_bytes,
                "worth_it": one.worth_it,
                "sentences": _sentences(plan, one),
            }
            for one in advice.rewrites
        ],
        "too_heavy": [{**dataclasses.asdict(one), "sentence": too_heavy.sentence(one)} for one in heavy],
    }


def _operators(plan: JobPlan, advice: Advice) -> Table:
    table = Table("operator", "kind", "keyed by", "partitions", "state", "key alike with")
    for one in plan.operators:
        alike = next((members for members in advice.components if one.number in members), (one.number,))
        others = ", ".join(str(other) for other in alike if other != one.number)
        key = ", ".join(one.key) or "nothing"
        table.add_row(
            str(one.number), one.kind, key, str(one.partitions), sentences.amount(one.state_bytes), others or "-"
        )
    return table


def _shuffles(advice: Advice) -> Table:
    table = Table("shuffle", "from", "to", "bytes a batch", "rows a batch", "task seconds a batch", "why")
    for note in advice.notes:
        table.add_row(*_shuffle(note))
    return table


def _shuffle(note: ShuffleNote) -> list[str]:
    one = note.shuffle
    origin = ", ".join(map(str, one.sources)) or "source"
    target = "sink" if one.target is None else str(one.target)
    target = target if one.feeds is None else f"shuffle {one.feeds}"
    rows = "unknown" if one.records is None else f"{one.records:,.0f}"
    seconds = "unknown" if one.seconds is None else f"{one.seconds:.3g}"
    return [str(one.number), origin, target, sentences.amount(one.size_bytes), rows, seconds, sentences.why(note)]


def _advice(plan: JobPlan, advice: Advice) -> list[str]:
    if not plan.shuffles:
        return ["This query shuffles nothing."]
    if not advice.rewrites:
        return ["Every shuffle of this query is needed: there is nothing to key alike."]
    return [sentence for one in advice.rewrites for sentence in _sentences(plan, one)]


def _sentences(plan: JobPlan, rewrite: Rewrite) -> list[str]:
    widths = [one.partitions for one in plan.operators if one.number in rewrite.operators]
    return [
        sentences.headline(rewrite, widths[0] if widths else 0),
        sentences.effect(rewrite),
        *sentences.cautions(rewrite),
    ]
