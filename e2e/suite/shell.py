"""Runs the documented commands as a reader types them: by bash, with kubectl, helm and streamjob on PATH."""

from __future__ import annotations

import contextlib
import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

from e2e.cluster.kubectl import Kubectl

ROOT = Path(__file__).parents[2]
LIMIT_S = 320.0


class Shell:
    """A reader's terminal. `words` are what the reader puts in place of the page's; `ran` has the page's commands.

    It works in `folder`, which has `charts` of the repository and `samples` that a test may edit, as a reader does; its
    kubeconfig's namespace is the one given.
    """

    def __init__(self, folder: Path, kubeconfig: Path, helm: Path, words: Mapping[str, str], namespace: str) -> None:
        self.folder = folder
        self.words = dict(words)
        self.ran: list[str] = []
        (folder / "charts").symlink_to(ROOT / "charts")
        (folder / "samples" / "streamjobs").mkdir(parents=True)
        for sample in (ROOT / "samples" / "streamjobs").iterdir():
            (folder / "samples" / "streamjobs" / sample.name).write_bytes(sample.read_bytes())
        (folder / "bin").mkdir()
        (folder / "bin" / "helm").symlink_to(helm)
        self._kubeconfig = folder / "kubeconfig"
        self._kubeconfig.write_bytes(kubeconfig.read_bytes())
        self.use(namespace)

    def use(self, namespace: str) -> None:
        """Work in that namespace where a command names none."""
        self.kubectl = Kubectl(self._kubeconfig, namespace)
        self.kubectl("config", "set-context", "--current", f"--namespace={namespace}")

    def __call__(self, command: str, **words: str) -> str:
        """What it prints; fails the test with what it says when it does not end with 0."""
        done = subprocess.run(
            self._words(command, words), capture_output=True, text=True, timeout=LIMIT_S, check=False, **self._where()
        )
        assert done.returncode == 0, f"{command}: {done.stderr or done.stdout}"
        return done.stdout

    def until(self, command: str, said: str, timeout_s: float) -> None:
        """Let a command that does not end by itself run until it has printed that."""
        output = self.folder / "watched"
        with output.open("wb") as file, self._running(command, file.fileno()) as running:
            until_s = time.monotonic() + timeout_s
            while said not in (shown := output.read_text(encoding="utf-8")):
                assert running.poll() is None, f"{command} ended: {shown}"
                assert time.monotonic() < until_s, f"{command}: not within {timeout_s:.0f} s: {said}; it shows: {shown}"
                time.sleep(0.2)

    @contextlib.contextmanager
    def _running(self, command: str, output: int) -> Iterator[subprocess.Popen[bytes]]:
        running = subprocess.Popen(
            self._words(command, {}), stdout=output, stderr=output, start_new_session=True, **self._where()
        )
        try:
            yield running
        finally:
            os.killpg(running.pid, 15)
            running.wait(10.0)

    def _words(self, command: str, words: Mapping[str, str]) -> list[str]:
        self.ran.append(command)
        return ["bash", "-euc", replaced(command, {**self.words, **words})]

    def _where(self) -> dict[str, object]:
        path = os.pathsep.join((str(self.folder / "bin"), str(Path(sys.executable).parent), os.environ["PATH"]))
        return {"cwd": self.folder, "env": {**os.environ, "PATH": path, "KUBECONFIG": str(self._kubeconfig)}}


def replaced(text: str, words: Mapping[str, str]) -> str:
    """The text with the reader's words; each replaces what it stands for where no letter or digit goes on."""
    for word, value in words.items():
        text = re.sub(rf"(?<![\w.]){re.escape(word)}(?!\w)", lambda _, value=value: value, text)
    return text
