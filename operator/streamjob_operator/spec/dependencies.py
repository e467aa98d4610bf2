"""What Spark fetches for an application before its first batch: Python files, jars, files, archives, packages."""

from __future__ import annotations

from typing import Annotated

from annotated_types import MaxLen
from pydantic import Field

from streamjob_operator.spec.base import Part
from streamjob_operator.spec.rules import Rule, matches, quoted, shaped

MOST, LONGEST = 100, 1000
"""Entries of a list, and characters of one: the API server weighs a rule by the most that it may see."""

SETTINGS = {
    "jars": "spark.jars",
    "files": "spark.files",
    "archives": "spark.archives",
    "packages": "spark.jars.packages",
    "repositories": "spark.jars.repositories",
    "exclude_packages": "spark.jars.excludes",
}
"""Field -> Spark's setting for it; Python files go another way, see :func:`settings`."""

_RESOURCE, _RESOURCE_HINT = r"[^,\s]+", "one path or address is needed, without spaces and commas"
_PACKAGE, _PACKAGE_HINT = r"[^,:\s]+:[^,:\s]+:[^,:\s]+", "a Maven package is needed, GROUP:ARTIFACT:VERSION"
_EXCLUDED, _EXCLUDED_HINT = r"[^,:\s]+:[^,:\s]+", "a Maven artifact is needed, GROUP:ARTIFACT"


Resource = Annotated[str, MaxLen(LONGEST), shaped(_RESOURCE, _RESOURCE_HINT), matches(_RESOURCE, _RESOURCE_HINT)]
Package = Annotated[str, MaxLen(LONGEST), shaped(_PACKAGE, _PACKAGE_HINT), matches(_PACKAGE, _PACKAGE_HINT)]
Excluded = Annotated[str, MaxLen(LONGEST), shaped(_EXCLUDED, _EXCLUDED_HINT), matches(_EXCLUDED, _EXCLUDED_HINT)]


class Dependencies(Part):
    """What the application needs beside its script."""

    py_files: tuple[Resource, ...] = Field(default=(), max_length=MOST)
    """Python files: .py, .zip or .egg, as paths, local:///path inside the image, or addresses such as s3a://... and
    https://... They can be imported from the script's first line on, in the driver and in Python workers. Default:
    none; at most 100."""

    jars: tuple[Resource, ...] = Field(default=(), max_length=MOST)
    """Jars on the class path of driver and executors, paths or addresses. Default: none; at most 100."""

    files: tuple[Resource, ...] = Field(default=(), max_length=MOST)
    """Files that every executor gets into its working folder, paths or addresses. Default: none; at most 100."""

    archives: tuple[Resource, ...] = Field(default=(), max_length=MOST)
    """Archives that every executor unpacks in its working folder, as ADDRESS or ADDRESS#FOLDER. Default: none; at
    most 100."""

    packages: tuple[Package, ...] = Field(default=(), max_length=MOST)
    """Maven packages, GROUP:ARTIFACT:VERSION, which the driver fetches with all that they need at each start. Default:
    none; at most 100."""

    repositories: tuple[Resource, ...] = Field(default=(), max_length=MOST)
    """Addresses of further Maven repositories. Default: none; at most 100."""

    exclude_packages: tuple[Excluded, ...] = Field(default=(), max_length=MOST)
    """Artifacts that packages name and that are not fetched, GROUP:ARTIFACT. Default: none; at most 100."""


def both_said(field: str, alias: str) -> Rule:
    """For the application: a list of `deps` and Spark's setting for it are not given together."""
    key = quoted(SETTINGS[field])
    return Rule(
        f"!has(self.sparkConf) || !({key} in self.sparkConf) || !has(self.deps) || !has(self.deps.{alias})"
        f" || self.deps.{alias}.size() == 0",
        twice(alias),
        f".sparkConf[{key}]",
    )


def twice(alias: str) -> str:
    """What is wrong with a list that is given by a setting as well."""
    return f"deps.{alias} is given too, and one would win unseen; leave one of them out"


def settings(wanted: Dependencies) -> dict[str, str]:
    """Spark's settings for the lists that are not empty.

    Python files are not among them: the agent's runner gets them, because a script may import them before it has a
    Spark session.
    """
    lists = {setting: getattr(wanted, field) for field, setting in SETTINGS.items()}
    return {setting: ",".join(entries) for setting, entries in lists.items() if entries}
