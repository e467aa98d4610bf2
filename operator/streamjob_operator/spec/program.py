"""What the agent's runner is told about an application: `python -m streamjob_agent run` and these words."""

from __future__ import annotations

from streamjob_operator.spec.application import Application

_LOCAL = "local://"


def words(application: Application) -> list[str]:
    """Options, the script or jar, its arguments."""
    return [*_options(application), main_file(application), *application.args]


def main_file(application: Application) -> str:
    """The path of script or jar where the driver runs, or the address that Spark fetches it from."""
    return application.main_file.removeprefix(_LOCAL)


def _options(application: Application) -> list[str]:
    if application.main_class is not None:
        return ["--class", application.main_class]
    return ["--py-files", ",".join(application.deps.py_files)] if application.deps.py_files else []
