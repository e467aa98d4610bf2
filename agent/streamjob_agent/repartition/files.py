"""What is asked of a file system, any that Hadoop knows: names are addresses such as hdfs://host/folder."""

from __future__ import annotations

from typing import Protocol


class Files(Protocol):
    """Calls raise OSError, with a sentence, when the file system refuses."""

    def exists(self, path: str) -> bool:
        """Whether there is a file or folder."""

    def names(self, folder: str) -> tuple[str, ...]:
        """What lies in a folder, without its own address; nothing where there is no such folder."""

    def walk(self, folder: str) -> tuple[tuple[str, int], ...]:
        """Every file below a folder, relative to it, with its bytes; nothing where there is no such folder."""

    def read(self, path: str) -> str:
        """A small file's text."""

    def write(self, path: str, text: str) -> None:
        """A new file, with the folders that it needs."""

    def copy(self, source: str, target: str) -> None:
        """One file, with the folders that it needs."""

    def rename(self, source: str, target: str) -> None:
        """A file or folder to a name that nothing has yet, with the folders that it needs."""

    def delete(self, path: str) -> None:
        """A file, or a folder with all that is in it; nothing where there is none."""

    def free_bytes(self, folder: str) -> int | None:
        """None where the file system cannot say."""


def move(files: Files, source: str, target: str) -> None:
    """A folder to where nothing is, or a part of it after a crash; may be called again until `source` is gone.

    One rename where the file system has such a thing. An object store copies file by file, and what a crash leaves
    there is in both places.
    """
    if files.exists(source) and not files.exists(target):
        files.rename(source, target)
        return
    for name, _ in files.walk(source):
        files.delete(f"{target}/{name}")
        files.rename(f"{source}/{name}", f"{target}/{name}")
    files.delete(source)
