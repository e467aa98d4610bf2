"""Folders of Hadoop's and Spark's own files, from ConfigMaps of the user's. Pure.

Spark gives the files of the driver's SPARK_CONF_DIR to executors itself; Hadoop's it does not, so both get them here.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

from streamjob_operator.spec import Application
from streamjob_operator.spec.pod_templates import HADOOP, SPARK, Folder

Manifest = dict[str, Any]


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class ConfFolder:
    """One ConfigMap as a folder, and the variable that names it."""

    volume: str
    config_map: str
    path: str
    variable: str


def of_driver(application: Application) -> tuple[ConfFolder, ...]:
    """The folders that the driver gets."""
    spark = _folder("spark", SPARK, application.spark_config_map)
    return (*of_executor(application), *spark)


def of_executor(application: Application) -> tuple[ConfFolder, ...]:
    """The folders that every executor gets from us."""
    return _folder("hadoop", HADOOP, application.hadoop_config_map)


def _folder(whose: str, folder: Folder, config_map: str | None) -> tuple[ConfFolder, ...]:
    if config_map is None:
        return ()
    variable, path = folder
    return (ConfFolder(volume=f"streamjob-{whose}-conf", config_map=config_map, path=path, variable=variable),)


def volumes(folders: Sequence[ConfFolder]) -> list[Manifest]:
    """Their volumes of a pod."""
    return [{"name": one.volume, "configMap": {"name": one.config_map}} for one in folders]


def mounts(folders: Sequence[ConfFolder]) -> list[Manifest]:
    """Where a container has them."""
    return [{"name": one.volume, "mountPath": one.path, "readOnly": True} for one in folders]


def variables(folders: Sequence[ConfFolder]) -> list[Manifest]:
    """The variables that name them."""
    return [{"name": one.variable, "value": one.path} for one in folders]
