"""Files of this machine that die at a step, as a process does: nothing is done by them afterwards."""

from __future__ import annotations

import shutil
from pathlib import Path


class Crash(BaseException):
    pass


class LocalFiles:
    """`fails_at` is a step that fails once. With `atomic` false a folder is renamed as an object store does it: copied
    file by file, then deleted so."""

    def __init__(
        self, *, dies_at: int | None = None, fails_at: int | None = None, atomic: bool = True, free: int | None = None
    ) -> None:
        self.steps = 0
        self._dies_at = dies_at
        self._fails_at = fails_at
        self._atomic = atomic
        self._free = free

    def _step(self) -> None:
        if self._dies_at is not None and self.steps >= self._dies_at:
            raise Crash
        self.steps += 1
        if self._fails_at == self.steps - 1:
            raise OSError("this step fails, once")

    def exists(self, path: str) -> bool:
        return Path(path).exists()

    def names(self, folder: str) -> tuple[str, ...]:
        return tuple(one.name for one in Path(folder).iterdir()) if Path(folder).exists() else ()

    def walk(self, folder: str) -> tuple[tuple[str, int], ...]:
        root = Path(folder)
        if root.is_file():
            return (("", root.stat().st_size),)
        found = sorted(one for one in root.rglob("*") if one.is_file())
        return tuple((str(one.relative_to(root)), one.stat().st_size) for one in found)

    def read(self, path: str) -> str:
        return Path(path).read_text()

    def write(self, path: str, text: str) -> None:
        self._step()
        if Path(path).exists():
            raise FileExistsError(path)
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        Path(path).write_text(text)

    def copy(self, source: str, target: str) -> None:
        self._step()
        Path(target).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source, target)

    def rename(self, source: str, target: str) -> None:
        if Path(target).exists():
            raise FileExistsError(target)
        if self._atomic or Path(source).is_file():
            self._step()
            Path(target).parent.mkdir(parents=True, exist_ok=True)
            Path(source).rename(target)
            return
        names = [name for name, _ in self.walk(source)]
        for name in names:
            self.copy(f"{source}/{name}", f"{target}/{name}")
        for name in names:
            self.delete(f"{source}/{name}")
        self.delete(source)

    def delete(self, path: str) -> None:
        self._step()
        if Path(path).is_dir():
            shutil.rmtree(path)
        else:
            Path(path).unlink(missing_ok=True)

    def free_bytes(self, folder: str) -> int | None:
        return self._free
