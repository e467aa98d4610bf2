"""The page of the agent: settings and checks from its code, the rest from a template."""

from __future__ import annotations

import dataclasses
import re
from pathlib import Path

from making.tables import code, table
from streamjob_agent.config import PREFIX, AgentConfig
from streamjob_agent.spark import selftest
from streamjob_agent.spark.settings import SETTINGS

TEMPLATE = Path(__file__).with_name("agent.template.md")
FAILS = {
    "spark_version": "a Spark that the integration tests have not run on",
    "separate_executors": "`local[*]`: every task runs inside the driver",
    "no_dynamic_allocation": "`spark.dynamicAllocation.enabled`",
    "no_speculation": "`spark.speculation`",
    "locality_wait": "nothing; it tells that the job's own `spark.locality.wait.process` is kept",
    "executors_can_leave": "nothing; drained nodes take executors unannounced: `spark.decommission.enabled` is off",
    "coordinator_round_trip": "a registration that the coordinator does not give back, or keeps",
    "state_ahead": "nothing; where far state cannot be opened before a move's first task, it tells why",
    "joins": "nothing; with Spark 3.5 it tells why partition 0 of joins stays, and what lets it move",
}


def page() -> str:
    """The whole page."""
    found = selftest.run_checks(
        version="0.0", master="yarn", conf={}, round_trip=lambda: "ok", offer_ahead=lambda: None
    )
    if set(found) != set(FAILS):
        raise ValueError(f"checks of the self-test and their descriptions differ: {sorted(set(found) ^ set(FAILS))}")
    low, high = (".".join(str(part) for part in bound) for bound in (selftest.TESTED_FROM, selftest.TESTED_TO))
    rows = [(code(one.key), code(_short(one.value)), "yes" if one.required else "", one.why) for one in SETTINGS]
    return TEMPLATE.read_text(encoding="utf-8").format(
        prefix=PREFIX,
        settings=table(("variable", "default", "what it is"), _settings()),
        spark=table(("setting", "value", "must be so", "why"), rows),
        checks="".join(f"| `{name}` | {fails} |\n" for name, fails in FAILS.items()),
        low=low,
        high=high,
    )


def _settings() -> list[tuple[str, str, str]]:
    told = _attributes(AgentConfig.__doc__ or "")
    fields = {field.name: field.default for field in dataclasses.fields(AgentConfig)}
    if set(told) != set(fields):
        raise ValueError(f"settings of the agent and their descriptions differ: {sorted(set(told) ^ set(fields))}")
    return [
        (code(PREFIX + name.upper()), code("" if default is None else str(default)), told[name])
        for name, default in fields.items()
    ]


def _attributes(doc: str) -> dict[str, str]:
    """Name and text of each line below "Attributes:", lines that go on joined."""
    lines = doc.partition("Attributes:\n")[2].rstrip()
    parts = re.split(r"^ {8}(\w+): ", lines, flags=re.MULTILINE)[1:]
    return {name: " ".join(text.split()) for name, text in zip(parts[::2], parts[1::2], strict=True)}


def _short(value: str) -> str:
    return value.rpartition(".")[2] if value.startswith("org.apache") else value
