"""Spark settings that the agent needs before the session exists, and what a user's own values mean for it."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

_ROCKSDB = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """One recommended setting. A `required` one turns actuation off when the user's value differs."""

    key: str
    value: str
    required: bool
    why: str


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Conflict:
    """The user's value, which was kept, and the sentence that says what it costs."""

    key: str
    value: str
    recommended: str
    required: bool
    sentence: str


SETTINGS = (
    Setting(
        key="spark.dynamicAllocation.enabled",
        value="false",
        required=True,
        why="executors are scaled by the controller; two masters would undo each other",
    ),
    Setting(
        key="spark.speculation",
        value="false",
        required=True,
        why="a second copy of a stateful task opens the state on another executor",
    ),
    Setting(
        key="spark.locality.wait",
        value="0s",
        required=False,
        why="tasks without state should start at once anywhere",
    ),
    Setting(
        key="spark.decommission.enabled",
        value="true",
        required=False,
        why="an executor whose node is drained then says so and is left, otherwise it is lost with what it holds",
    ),
    Setting(
        key="spark.storage.decommission.enabled",
        value="false",
        required=False,
        why="moving shuffle blocks kept a leaving executor for 31 s where 1 s was enough",
    ),
    Setting(
        key="spark.sql.streaming.stateStore.providerClass",
        value=_ROCKSDB,
        required=False,
        why="state outside the Java heap, and incremental checkpoints",
    ),
    Setting(
        key="spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled",
        value="true",
        required=False,
        why="a batch then writes its changes, not a snapshot",
    ),
    Setting(
        key="spark.kubernetes.allocation.pods.allocator",
        value="direct",
        required=False,
        why="other allocators replace an executor that was meant to go",
    ),
)


def recommended_settings() -> dict[str, str]:
    """Key to value, to be set before the session exists."""
    return {setting.key: setting.value for setting in SETTINGS}


def merge_settings(user: Mapping[str, str]) -> tuple[dict[str, str], tuple[Conflict, ...]]:
    """The user's settings over the recommended ones, and every place where they differ. The user always wins."""
    conflicts = [
        _conflict(setting, user[setting.key])
        for setting in SETTINGS
        if setting.key in user and user[setting.key].strip().lower() != setting.value.lower()
    ]
    return {**recommended_settings(), **user}, tuple(conflicts)


def _conflict(setting: Setting, value: str) -> Conflict:
    effect = "actuation stays off" if setting.required else "it is kept"
    return Conflict(
        key=setting.key,
        value=value,
        recommended=setting.value,
        required=setting.required,
        sentence=f"{setting.key}={value} given, {setting.value} is recommended ({setting.why}): {effect}.",
    )
