"""Hadoop's file systems on paper: how many are asked for. What they do is in tests/integration/repartition."""

from __future__ import annotations

import types
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from streamjob_agent.repartition.hadoop import HadoopFiles


class FileSystems:
    """Hadoop that is told to keep no file system: it makes another one whenever it is asked."""

    def __init__(self) -> None:
        self.made: list[str] = []

    def session(self) -> Any:
        def path(name: str) -> Any:
            return types.SimpleNamespace(getFileSystem=lambda _: self._another(name), name=name)

        hadoop = types.SimpleNamespace(fs=types.SimpleNamespace(Path=path))
        jvm = types.SimpleNamespace(org=types.SimpleNamespace(apache=types.SimpleNamespace(hadoop=hadoop)))
        state = types.SimpleNamespace(newHadoopConf=lambda: None)
        return types.SimpleNamespace(_jvm=jvm, _jsparkSession=types.SimpleNamespace(sessionState=lambda: state))

    def _another(self, name: str) -> Any:
        self.made.append(name)
        return types.SimpleNamespace(exists=lambda path: path.name.endswith("there"))


def test_a_checkpoint_has_one_file_system_however_many_files_it_has() -> None:
    systems = FileSystems()
    files = HadoopFiles(systems.session())
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(files.exists, [f"s3a://one/{at}/there" for at in range(50)]))
    assert all(found)
    assert not files.exists("s3a://other/gone")
    assert not files.exists("/local/gone")
    assert len(systems.made) == 3, "one for each store"
