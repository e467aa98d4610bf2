"""What is started for a job: its own script, through the agent's runner and unchanged; the change of its key groups."""

from __future__ import annotations

import os
from pathlib import Path

from streamjob_operator.spec import Application, program
from streamjob_operator.standalone.child import Child
from streamjob_operator.standalone.submission import (
    command,
    environment,
    repartition,
    repartition_environment,
)


class DriverError(Exception):
    """The driver cannot be started; the text is a sentence for the user."""


class Driver(Child):
    """One run of the user's script, with everything about it in one folder.

    Its output goes to `driver.log`, its process id to `driver.pid`; the agent writes its address to `agent.address` and
    remembers placements in `agent/`.
    """

    def __init__(self, application: Application, folder: Path) -> None:
        super().__init__(folder, "driver")
        self._application = application
        self.address_file = folder / "agent.address"
        self._state_dir = folder / "agent"

    def check(self) -> None:
        """Raises DriverError when the script is missing, or an earlier driver still runs the job."""
        script = program.main_file(self._application)
        missing = None if "://" in script else _missing(Path(script))
        if missing is not None:
            raise DriverError(f"spec.application.mainFile: {script} given; {missing}.")
        pid = self.survivor()
        if pid is not None:
            raise DriverError(
                f"The job runs already: its driver is process {pid}, which outlived its controller. "
                f"Add --attach {_address(self.address_file)} to look after it, or end it with: kill {pid}"
            )

    def start(self) -> None:
        """Start the driver; raises OSError when that is impossible."""
        self._state_dir.mkdir(parents=True, exist_ok=True)
        self.address_file.unlink(missing_ok=True)  # the address of an earlier driver leads nowhere, or to a stranger
        env = environment(self._application, self.address_file, self._state_dir, os.environ)
        self.launch(command(self._application), env)


class Repartition(Child):
    """The change of a stopped query's key groups, and the way back; its output goes to `key-groups.log`."""

    def __init__(self, application: Application, folder: Path) -> None:
        super().__init__(folder, "key-groups")
        self._application = application

    def start(self, key_groups: int | None) -> None:
        """Change their number, or go back where it is None; raises OSError when that is impossible."""
        self.launch(repartition(self._application, key_groups), repartition_environment(self._application, os.environ))


def _missing(script: Path) -> str | None:
    """Why there is no script, as half a sentence; None where there is one."""
    try:
        there = script.exists()
    except OSError as error:
        return f"it cannot be looked for: {error.strerror}"
    where = "" if script.is_absolute() else f" in {Path.cwd()}"
    return None if there else f"there is no such file{where}"


def _address(address_file: Path) -> str:
    return address_file.read_text(encoding="utf-8").strip() if address_file.exists() else "ADDRESS"
