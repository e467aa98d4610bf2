"""What a person calls a key group."""

from __future__ import annotations

from streamjob_planners.model import LoadModel


def called(model: LoadModel, group: int) -> str:
    """The key group with this index; its query, too, where there are several."""
    one = model.group_ids[group]
    if one.operator not in model.queries:
        return f"key group {one.partition} of operator {one.operator}"
    query, operator = model.queries[one.operator]
    return f"key group {one.partition} of operator {operator} of query {query}"
