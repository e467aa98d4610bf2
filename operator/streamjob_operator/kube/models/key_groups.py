"""StreamJob.status.keyGroups: how many there are, how many might do, and what is done about it."""

from __future__ import annotations

from streamjob_operator.kube.models.marks import Time
from streamjob_operator.spec.base import Part


class KeyGroupsStatus(Part):
    """Key groups of each stateful operator."""

    now: int | None = None
    """How many there are, by the newest measurement, or as they were made since."""

    proposed: int | None = None
    """How many might do where no number of executors does; absent where nothing says that more would help."""

    step: str | None = None
    """Change, Undo or End while their number is changed: the new number is made, the old one comes back, the driver is
    about to start. Absent while nothing is done."""

    wanted: int | None = None
    """How many are made."""

    pod_uid: str | None = None
    """Uid of the pod that changes the checkpoint."""

    since: Time | None = None
    """When that pod was seen first. RFC 3339."""

    tried: str | None = None
    """What is not tried again: a number, and the hash of the spec.application that it was tried with."""

    failure: str | None = None
    """Why there are not as many as were asked for."""
