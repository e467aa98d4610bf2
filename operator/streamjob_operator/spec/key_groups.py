"""How many key groups a query has, and who decides that there be more."""

from __future__ import annotations

import enum

from pydantic import Field

from streamjob_operator.spec.base import Part

MOST_KEY_GROUPS = 100_000
APPROVED = "key-groups-"
"""What the annotation `streamjob.dev/approve` begins with where it approves a number of key groups."""
WHERE = "keyGroups.count and mode Approve need application.checkpoint: the state is changed there"


class KeyGroupsMode(enum.StrEnum):
    """How far StreamJob may go where more key groups might help."""

    RECOMMEND = "Recommend"
    APPROVE = "Approve"


class KeyGroups(Part):
    """How many key groups there shall be. Their number is changed offline: the query stops between two batches, a copy
    of its checkpoint is changed and checked row by row, and the query goes on from it (Spark 4.2 or newer, RocksDB)."""

    mode: KeyGroupsMode = KeyGroupsMode.RECOMMEND
    """How far StreamJob may go where no number of executors is enough and more key groups might be: Recommend (say how
    many) or Approve (change their number once a person sets the annotation streamjob.dev/approve to key-groups-N, on
    Kubernetes). Default Recommend."""

    max: int = Field(default=4096, ge=1, le=MOST_KEY_GROUPS)
    """Most key groups that are proposed. Default 4096, range 1 to 100000."""

    count: int | None = Field(default=None, ge=1, le=MOST_KEY_GROUPS)
    """Key groups of each stateful operator that a person wants: where another number was measured, the query is stopped
    and the number changed; a failure is told, and the query goes on as it was. Default: as the checkpoint has them;
    range 1 to 100000."""

    @property
    def changes(self) -> bool:
        """Whether their number may be changed at all."""
        return self.count is not None or self.mode is KeyGroupsMode.APPROVE
