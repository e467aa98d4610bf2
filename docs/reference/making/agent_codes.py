"""Codes that the agent writes into PartitionMap.status: all that its source holds, each with what it means."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import streamjob_agent
from streamjob_agent import wire

SOURCE = Path(streamjob_agent.__file__).parent
STATES = {
    "Ok": "It moves key groups.",
    "NotAttached": "No Spark session has been seen yet, or the job has stopped its session.",
    "SparkConnectClient": "The program is a client of Spark Connect: its queries run in another driver.",
    "Attaching": "It is being attached to the Spark session.",
    "Starting": "Its self-test has not run yet.",
    "AttachFailed": "This Spark cannot be watched; the message says why. The job runs as without an agent.",
    "SelfTestFailed": "This Spark does not do what moving key groups needs; the message names what failed.",
    "CallsFail": "Calls into Spark failed again and again, so it moves nothing any more.",
    "Stuck": "A call into Spark has not come back for a minute or more; it moves on once that does.",
}
"""`status.reason`."""
REFUSALS = {
    "ActuationOff": "It moves nothing; `status.reason` says why.",
    "StaleApplication": "The plan was made for another driver, whose executor ids mean other processes.",
    "StaleGeneration": "A newer plan is applied already, or the same generation came with another content.",
    "UnknownQuery": "The driver has no active query with that id.",
    "NotReady": "The query has not had its first batch yet.",
    "WrongShape": "The operators or the number of their partitions are not those of the query.",
    "UnknownExecutor": "An executor is named that the driver does not know.",
    "AllMarked": "Every live executor is marked for removal: no one is left to hold key groups.",
    "WrongTarget": "Fewer than one executor is asked for.",
    "NotMarked": "An executor is to be removed that is not marked for removal.",
    "HoldsGroups": "An executor is to be removed that still holds key groups.",
    "Unreadable": "The map cannot be read; the sentence names the field.",
}
"""How `status.refused` begins."""


def checked() -> tuple[dict[str, str], dict[str, str]]:
    """Both tables; raises ValueError where they are not what the agent's source holds."""
    trees = [ast.parse(path.read_text(encoding="utf-8")) for path in sorted(SOURCE.glob("**/*.py"))]
    states = {code for tree in trees for node in ast.walk(tree) for code in _states(node)}
    refusals = {code for tree in trees for node in ast.walk(tree) for code in _refusals(node)} - {"Authorization"}
    for found, told in ((states, STATES), (set(wire.STATES), STATES), (refusals, REFUSALS)):
        if found != set(told):
            raise ValueError(f"codes of the agent and their descriptions differ: {sorted(found ^ set(told))}")
    return STATES, REFUSALS


def _states(node: ast.AST) -> Iterator[str]:
    """Codes given as `_turn_off(CODE, ...)`, `_why_not`, `off` or `_off: ... = (CODE, ...)`, `reason=... else CODE`."""
    match node:
        case ast.Call(func=ast.Attribute(attr="_turn_off"), args=[ast.Constant(value=str(code)), *_]):
            yield code
        case ast.Assign(
            targets=[ast.Attribute(attr="_why_not")], value=ast.Tuple(elts=[ast.Constant(value=str(code)), _])
        ):
            yield code
        case ast.Assign(targets=[ast.Name(id="off")], value=ast.Tuple(elts=[ast.Constant(value=str(code)), _])):
            yield code
        case ast.AnnAssign(target=ast.Attribute(attr="_off"), value=ast.Tuple(elts=[ast.Constant(value=str(code)), _])):
            yield code
        case ast.keyword(arg="reason", value=ast.IfExp(orelse=ast.Constant(value=str(code)))):
            yield code


def _refusals(node: ast.AST) -> Iterator[str]:
    """Codes at the beginning of a sentence."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        begun = re.match(r"([A-Z][A-Za-z]+): ", node.value)
        if begun:
            yield begun[1]
