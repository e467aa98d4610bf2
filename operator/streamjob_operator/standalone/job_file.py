"""The file of a job that runs: what a person edits in it counts from then on, as on a cluster."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from streamjob_operator.spec import SpecError, StreamJob, read_job

LIVE = ("balancing", "executors", "scaling")
"""Parts of the spec that can change while the job runs; `metadata.annotations` can, too: they approve and pause."""


class JobFile:
    """The StreamJob as its file says, looked at as often as somebody asks. `edits` counts those that were taken over.

    An edit that is wrong, or that changes anything else, is told and left alone as a whole: what one person wrote
    together is not used in part.
    """

    def __init__(self, path: Path, job: StreamJob, tell: Callable[[str], None]) -> None:
        self.job = job
        self.edits = 0
        self._path = path
        self._tell = tell
        self._seen: tuple[int, int] | None = None  # what told the newest writing from those before

    def newest(self) -> StreamJob:
        """The job with the newest edit. A file that is gone changes nothing."""
        written = _written(self._path)
        if written is not None and written != self._seen:
            self._seen = written
            self._read()
        return self.job

    def _read(self) -> None:
        try:
            edited = read_job(self._path)
        except SpecError as error:
            self._refuse(error.sentences)
            return
        except Exception as error:  # noqa: BLE001 - whatever a half-written file does to its reader, the job is not to end
            self._refuse((f"It cannot be read: {type(error).__name__}: {error}.",))
            return
        fixed = tuple(_fixed(self.job, edited))
        if fixed:
            self._refuse(tuple(f"{one} cannot change while the job runs." for one in fixed))
        elif edited != self.job:
            self.job, self.edits = edited, self.edits + 1
            self._tell(f"{self._path} was edited: it counts from now on.")

    def _refuse(self, sentences: tuple[str, ...]) -> None:
        self._tell(f"{self._path} was edited, and the job goes on as before: {' '.join(sentences)}")


def _written(path: Path) -> tuple[int, int] | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size


def _fixed(before: StreamJob, edited: StreamJob) -> list[str]:
    """What differs and must not: annotations steer, all else of metadata says which job it is."""
    names = [name for name in type(before.spec).model_fields if name not in LIVE]
    found = [f"spec.{name}" for name in names if getattr(before.spec, name) != getattr(edited.spec, name)]
    annotated = before.metadata.model_copy(update={"annotations": edited.metadata.annotations})
    return [*(["metadata"] if annotated != edited.metadata else []), *found]
