"""The Docker engine that kind works on: the one that answers on this machine, else our own."""

from __future__ import annotations

import dataclasses
import os
import subprocess
from collections.abc import Mapping

from e2e.kind.bare import engine as bare


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Engine:
    """`enter` is the prefix of what is to reach its containers' ports; `environment` tells docker and kind of it."""

    enter: tuple[str, ...] = ()
    environment: Mapping[str, str] = dataclasses.field(default_factory=dict)
    is_bare: bool = False

    def run(self, *command: str, text: str | None = None) -> str:
        """The output of docker or kind; raises RuntimeError with what it said."""
        environment = {**os.environ, **self.environment}
        done = subprocess.run(
            [*self.enter, *command], env=environment, input=text, capture_output=True, text=True, check=False
        )
        if done.returncode:
            raise RuntimeError(f"{' '.join(command)} failed:\n{(done.stdout + done.stderr).strip()[-3000:]}")
        return done.stdout

    def start(self) -> None:
        """Make sure that it runs; raises RuntimeError."""
        if self.is_bare:
            bare.start()

    def stop(self) -> None:
        """End it if it is ours; raises RuntimeError."""
        if self.is_bare:
            bare.stop()


OURS = Engine(enter=bare.ENTER, environment={"DOCKER_HOST": bare.SOCKET}, is_bare=True)


def find() -> Engine:
    """The one that answers, else ours, which may not run yet."""
    return Engine() if bare.answers(dict(os.environ)) else OURS
