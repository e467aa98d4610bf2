"""The page of SparkApplications' fields, from the rows by which `streamjob import` works."""

from __future__ import annotations

from making.tables import code, table
from streamjob_operator.importing import apache, kubeflow
from streamjob_operator.importing.draft import Way

HEAD = """# What a SparkApplication says, and how a StreamJob says it

Every field of a SparkApplication's spec has one row; `streamjob import` works by these rows, see
[from-sparkapplication.md](../user/from-sparkapplication.md). Fields of a StreamJob are named below `spec.application`
where they do not begin with `spec` or `executors`; names such as `spark.ui.proxyBase` are settings for `sparkConf`;
`podTemplate` is the driver's, the executor's, or that of both, as the row's fields are.

"""


def page() -> str:
    """Both tables."""
    return (
        f"{HEAD}{_part('Kubeflow', kubeflow.API, kubeflow.VERSION, kubeflow.WAYS)}\n"
        f"{_part('Apache', apache.API, apache.VERSION, apache.WAYS)}"
    )


def _part(whose: str, api: str, version: str, ways: tuple[Way, ...]) -> str:
    head = f"## {whose}'s\n\n`{api}`, as version {version} of its operator defines it.\n\n"
    rows = [(", ".join(code(path) for path in way.fields), way.way) for way in ways]
    return head + table(("field", "in a StreamJob"), rows)
