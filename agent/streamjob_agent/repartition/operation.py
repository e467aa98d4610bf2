"""The change from beginning to end, and what is done about one that was interrupted."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from typing import Protocol

from streamjob_agent.repartition import judging, swap
from streamjob_agent.repartition.files import Files
from streamjob_agent.repartition.journal import Direction, Journal, Stage, read_journal, stage
from streamjob_agent.repartition.logs import Settings, look, numbers, read_settings, state_format
from streamjob_agent.repartition.place import COPIED, Place, journal_of, room_of
from streamjob_agent.repartition.values import Contents, Facts, Refused, Store

COPIES_AT_ONCE = 8
TOLD_EVERY_RATIO = 0.25


class Engine(Protocol):
    """What only Spark can do. Calls raise Refused when Spark fails."""

    @property
    def version(self) -> str:
        """Of Spark."""

    def repartition(self, checkpoint: str, key_groups: int, state_format: str) -> None:
        """Spark's own offline repartition, in place."""

    def contents(self, checkpoint: str, batch: int) -> Mapping[Store, Contents]:
        """All state as it was after that batch."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """Another number of key groups for one checkpoint, whose query stands still. `tell` takes sentences for people.

    Within `unbroken` whoever would end this process must wait: the barrier is there, and no query can start.
    """

    files: Files
    engine: Engine
    checkpoint: str
    tell: Callable[[str], None]
    unbroken: Callable[[], AbstractContextManager[None]] = contextlib.nullcontext

    def stage(self) -> Stage:
        """How far a change is that was begun earlier."""
        return stage(self._journal(), look(self.files, self.checkpoint))

    def facts(self) -> Facts:
        """What is found of the checkpoint."""
        seen = look(self.files, self.checkpoint)
        settings = Settings(key_groups=None, provider="")
        if seen.committed is not None:
            settings = read_settings(self.files.read(f"{self.checkpoint}/offsets/{seen.committed}"))
        return Facts(
            spark_version=self.engine.version,
            batch=seen.batch,
            committed=seen.committed,
            key_groups=settings.key_groups,
            provider=settings.provider,
            operators=len(numbers(self.files.names(f"{self.checkpoint}/state"))),
            bytes=sum(size for _, size in self._to_copy()),
            free_bytes=self.files.free_bytes(self.checkpoint),
        )

    def refusals(self, wanted: int) -> tuple[str, ...]:
        """Why `wanted` key groups are impossible, as far as can be told without a copy."""
        return judging.refusals(self.facts(), wanted)

    def run(self, wanted: int) -> None:
        """Copy, change, check, put in place; or end what an interrupted change has begun. Raises Refused.

        Once more the same after it was done, and before a batch was finished: nothing is left to do.
        """
        if self._ended_earlier(wanted):
            return
        facts = self.facts()
        sentences = judging.refusals(facts, wanted)
        if sentences or facts.committed is None or facts.key_groups is None:
            raise Refused("\n".join(sentences))
        place = Place(self.checkpoint, facts.committed)
        journal = Journal(batch=place.batch, key_groups_before=facts.key_groups, key_groups=wanted)
        try:
            self._prepare(place, journal)
            with self.unbroken():
                self._put_in_place(place)
        except BaseException:
            if self.stage() is Stage.DRAFT:
                self.files.delete(place.room)
            raise

    def undo(self) -> None:
        """The old state again, while no batch has begun with the new one. Raises Refused."""
        with self.unbroken():
            self._undo()

    def _undo(self) -> None:
        now, journal = self.stage(), self._journal()
        if now is Stage.HALFWAY:
            self._turn_back(self._halfway()[0])
            return
        if now is Stage.NONE:
            return
        if now is Stage.DRAFT:
            self.files.delete(room_of(self.checkpoint))
            return
        if now is not Stage.WAITING or journal is None:
            raise Refused(
                "A batch has begun with the new key groups. The old state cannot come back: rows that this batch may "
                "have written would be written once more. Let the query finish the batch."
            )
        place = Place(self.checkpoint, journal.batch)
        swap.raise_barrier(self.files, place, Direction.BACK)
        self._finish(place, Direction.BACK)

    def clean(self) -> bool:
        """Forget the old state where a batch has been finished with the new one; whether there is nothing left."""
        if self.stage() is Stage.DONE:
            self.files.delete(room_of(self.checkpoint))
        return self.stage() is Stage.NONE

    def _ended_earlier(self, wanted: int) -> bool:
        """Whether a change that was interrupted is in its place now. What is of no use any more goes."""
        now = self.stage()
        if now is Stage.HALFWAY:
            with self.unbroken():
                return self._finish_halfway() is Direction.FORWARD
        if now in (Stage.WAITING, Stage.BEGUN):
            journal = self._journal()
            if journal is not None and journal.key_groups == wanted:
                self.tell("The new state is in its place already. The query may be started.")
                return True
            raise Refused(
                "An earlier change is in its place, and no batch has been finished since. Start the query and let it "
                "finish one first."
            )
        if now is not Stage.NONE:
            self.files.delete(room_of(self.checkpoint))
        return False

    def _prepare(self, place: Place, journal: Journal) -> None:
        """The checked copy with the new number of key groups."""
        self.files.write(place.journal, journal.text())
        self._copy(place)
        before = self.engine.contents(place.copy, place.batch)
        _raise_for(judging.unfit(before, journal.key_groups_before))
        self.tell(f"Spark spreads {_rows(before)} rows of state over {journal.key_groups} key groups.")
        form = state_format(self.files.read(f"{place.copy}/commits/{place.batch}"))
        self.engine.repartition(place.copy, journal.key_groups, form)
        self._drop_folders(place, journal.key_groups)
        after = self.engine.contents(place.copy, place.batch + 1)
        _raise_for(judging.differences(before, after, journal.key_groups))
        self._check_still(place)
        self._check_records(place)
        self.tell("Every row is there once, unchanged, in the key group that its key belongs to.")

    def _to_copy(self) -> tuple[tuple[str, int], ...]:
        found = []
        for name in COPIED:
            inside = self.files.walk(f"{self.checkpoint}/{name}")
            found += [(f"{name}/{path}" if path else name, size) for path, size in inside]
        return tuple(found)

    def _copy(self, place: Place) -> None:
        found = self._to_copy()
        total = sum(size for _, size in found)
        self.tell(f"Copying {len(found)} files, {total:,} bytes.")
        done, told = 0, TOLD_EVERY_RATIO
        pool = ThreadPoolExecutor(COPIES_AT_ONCE)
        try:
            for size in pool.map(lambda one: self._copy_one(place, *one), found):
                done += size
                if total and told <= done / total < 1:
                    self.tell(f"{100 * done // total} percent are copied.")
                    told += TOLD_EVERY_RATIO
        finally:
            pool.shutdown(cancel_futures=True)  # whoever ends this early does not wait for what is not begun

    def _copy_one(self, place: Place, name: str, size: int) -> int:
        self.files.copy(f"{self.checkpoint}/{name}", f"{place.copy}/{name}")
        return size

    def _drop_folders(self, place: Place, key_groups: int) -> None:
        """Those of key groups that are no more: Spark leaves them, and reads of the state stumble over them."""
        for operator in numbers(self.files.names(place.new_state)):
            folder = f"{place.new_state}/{operator}"
            for number in numbers(self.files.names(folder)):
                if number >= key_groups:
                    self.files.delete(f"{folder}/{number}")

    def _check_records(self, place: Place) -> None:
        """That Spark recorded the change as the one batch that comes next, and nothing else."""
        logs = {log: set(numbers(self.files.names(f"{place.copy}/{log}"))) for log in ("offsets", "commits")}
        own = {log: set(numbers(self.files.names(f"{self.checkpoint}/{log}"))) for log in ("offsets", "commits")}
        if any(logs[log] - own[log] != {place.batch + 1} for log in logs):
            raise Refused("Spark has recorded the change in another way than is known; the copy is not used.")

    def _put_in_place(self, place: Place) -> None:
        swap.raise_barrier(self.files, place, Direction.FORWARD)
        try:
            self._check_still(place)
        except Refused:
            self.files.delete(place.barrier)
            raise
        try:
            self._finish(place, Direction.FORWARD)
        except OSError as error:
            self._turn_back(place)
            raise Refused(f"The new state could not be put in its place: {error}") from error

    def _check_still(self, place: Place) -> None:
        seen = look(self.files, self.checkpoint)
        if (seen.batch, seen.committed) != (place.batch, place.batch):
            raise Refused("The query has run meanwhile: it must stand still. Nothing was changed.")

    def _halfway(self) -> tuple[Place, Direction]:
        journal, seen = self._journal(), look(self.files, self.checkpoint)
        if journal is None or seen.barrier is None:
            raise Refused(f"{journal_of(self.checkpoint)} cannot be read, so nothing is touched.")
        self.tell(f"A change from {journal.key_groups_before} to {journal.key_groups} key groups was interrupted.")
        return Place(self.checkpoint, journal.batch), seen.barrier

    def _finish_halfway(self) -> Direction:
        place, direction = self._halfway()
        self._finish(place, direction)
        return direction

    def _finish(self, place: Place, direction: Direction) -> None:
        swap.finish(self.files, place, direction)
        if direction is Direction.BACK:
            self._is_back(place)
        else:
            self.tell("The new state is in its place. The query may be started.")

    def _turn_back(self, place: Place) -> None:
        swap.turn_back(self.files, place)
        self._is_back(place)

    def _is_back(self, place: Place) -> None:
        self.files.delete(place.room)
        self.tell("The old state is in its place again. The query may be started.")

    def _journal(self) -> Journal | None:
        path = journal_of(self.checkpoint)
        return read_journal(self.files.read(path)) if self.files.exists(path) else None


def _raise_for(sentences: tuple[str, ...]) -> None:
    if sentences:
        raise Refused("\n".join(sentences))


def _rows(contents: Mapping[Store, Contents]) -> str:
    return f"{sum(one.rows for one in contents.values()):,}"
