"""Where things lie: in the checkpoint, and in the room beside it that the change needs."""

from __future__ import annotations

import dataclasses

COPIED = ("metadata", "offsets", "commits", "state")
"""Of a checkpoint. What sources remember is neither needed for the change nor changed by it."""


@dataclasses.dataclass(frozen=True, slots=True)
class Place:
    """The names of one change. `batch` is the newest finished batch before it; the change is the one after that."""

    checkpoint: str
    batch: int

    @property
    def room(self) -> str:
        """The folder beside the checkpoint in which everything of the change lies."""
        return room_of(self.checkpoint)

    @property
    def journal(self) -> str:
        """What is being done; written before anything else."""
        return journal_of(self.checkpoint)

    @property
    def copy(self) -> str:
        """The checkpoint that is changed."""
        return f"{self.room}/copy"

    @property
    def state(self) -> str:
        """The state that the query uses."""
        return f"{self.checkpoint}/state"

    @property
    def new_state(self) -> str:
        """The state with another number of key groups, until it is in use."""
        return f"{self.copy}/state"

    @property
    def old_state(self) -> str:
        """The state as it was, once it is not in use any more."""
        return f"{self.room}/old/state"

    @property
    def old_is_out(self) -> str:
        """A file that says that all of the old state has left."""
        return f"{self.room}/old-is-out"

    @property
    def turned_back(self) -> str:
        """A file that says that the way forward was given up behind the barrier."""
        return turned_back_of(self.checkpoint)

    @property
    def barrier(self) -> str:
        """A file in the log of planned batches that no Spark can read: while it is there, no query starts."""
        return f"{self.checkpoint}/offsets/{self.batch + 2}"

    def records(self, checkpoint: str) -> tuple[str, ...]:
        """What says in a checkpoint's logs that the change took place, as a batch without data."""
        return tuple(f"{checkpoint}/{log}/{self.batch + 1}" for log in ("offsets", "commits"))


def room_of(checkpoint: str) -> str:
    """Beside it, so that renames stay within one file system."""
    return f"{checkpoint}.repartition"


def turned_back_of(checkpoint: str) -> str:
    """See :attr:`Place.turned_back`."""
    return f"{room_of(checkpoint)}/turned-back"


def journal_of(checkpoint: str) -> str:
    """See :attr:`Place.journal`."""
    return f"{room_of(checkpoint)}/journal.json"
