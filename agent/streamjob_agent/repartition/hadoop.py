"""Hadoop's file systems, through a session of Spark: what the query reaches, this reaches."""

from __future__ import annotations

import threading
import urllib.parse
from collections.abc import Callable
from typing import Any, TypeVar

T = TypeVar("T")


class HadoopFiles:
    """See :class:`streamjob_agent.repartition.files.Files`."""

    def __init__(self, session: Any) -> None:
        self._fs_package = session._jvm.org.apache.hadoop.fs
        self._conf = session._jsparkSession.sessionState().newHadoopConf()
        self._opened: dict[tuple[str, str], Any] = {}  # by scheme and host
        self._lock = threading.Lock()

    def qualified(self, path: str) -> str:
        """With scheme and host, as Spark's own names have it. Raises OSError for what no file system knows."""

        def ask() -> str:
            return str(self._fs(path).makeQualified(self._path(path)))

        return _asked(path, ask)

    def exists(self, path: str) -> bool:
        """See Files."""
        return _asked(path, lambda: bool(self._fs(path).exists(self._path(path))))

    def names(self, folder: str) -> tuple[str, ...]:
        """See Files."""
        if not self.exists(folder):
            return ()
        found = _asked(folder, lambda: list(self._fs(folder).listStatus(self._path(folder))))
        return tuple(str(one.getPath().getName()) for one in found)

    def walk(self, folder: str) -> tuple[tuple[str, int], ...]:
        """See Files. A file is itself, with an empty name."""
        if not self.exists(folder):
            return ()

        def ask() -> tuple[tuple[str, int], ...]:
            root, found = self._root(folder), []
            there = self._fs(folder).listFiles(self._path(folder), True)
            while there.hasNext():
                one = there.next()
                found.append((str(one.getPath()).removeprefix(root).lstrip("/"), int(one.getLen())))
            return tuple(found)

        return _asked(folder, ask)

    def read(self, path: str) -> str:
        """See Files."""

        def ask() -> str:
            stream = self._fs(path).open(self._path(path))
            try:
                return bytes(stream.readAllBytes()).decode("utf-8", "replace")
            finally:
                stream.close()

        return _asked(path, ask)

    def write(self, path: str, text: str) -> None:
        """See Files."""

        def ask() -> None:
            stream = self._fs(path).create(self._path(path), False)
            try:
                stream.write(bytearray(text.encode("utf-8")))
            finally:
                stream.close()

        _asked(path, ask)

    def copy(self, source: str, target: str) -> None:
        """See Files."""

        def ask() -> bool:
            fs, there = self._fs(source), self._path(target)
            fs.mkdirs(there.getParent())
            return bool(self._fs_package.FileUtil.copy(fs, self._path(source), fs, there, False, False, self._conf))

        if not _asked(source, ask):
            raise OSError(f"{source} could not be copied to {target}")

    def rename(self, source: str, target: str) -> None:
        """See Files."""
        if self.exists(target):  # Hadoop would move a folder into one that is there
            raise OSError(f"{source} could not be renamed: there is a {target}")

        def ask() -> bool:
            fs, there = self._fs(source), self._path(target)
            fs.mkdirs(there.getParent())
            return bool(fs.rename(self._path(source), there))

        if not _asked(source, ask):
            raise OSError(f"{source} could not be renamed to {target}")

    def delete(self, path: str) -> None:
        """See Files."""
        _asked(path, lambda: self._fs(path).delete(self._path(path), True))
        if self.exists(path):
            raise OSError(f"{path} could not be deleted")

    def free_bytes(self, folder: str) -> int | None:
        """See Files. What is no file system but a store of objects says a number that no disk has."""
        try:
            return int(self._fs(folder).getStatus(self._path(folder)).getRemaining())
        except Exception:  # noqa: BLE001 - not every file system knows
            return None

    def _path(self, path: str) -> Any:
        return self._fs_package.Path(path)

    def _fs(self, path: str) -> Any:
        """One for all calls. Hadoop makes another one for each where it is told to keep none, of an object store with
        threads and connections (fs.SCHEME.impl.disable.cache)."""
        where = urllib.parse.urlsplit(path)
        with self._lock:
            found = self._opened.get((where.scheme, where.netloc))
            if found is None:
                found = self._opened[where.scheme, where.netloc] = self._path(path).getFileSystem(self._conf)
            return found

    def _root(self, folder: str) -> str:
        return str(self._fs(folder).makeQualified(self._path(folder)))


def _asked(path: str, ask: Callable[[], T]) -> T:
    try:
        return ask()
    except Exception as error:  # py4j's, whose text begins with what it called
        said = getattr(error, "java_exception", None)
        raise OSError(f"{path}: {said.toString() if said is not None else error}") from error
