"""The new state into the old one's place, or back: each step may be done twice, and what is found says which is next.

While state moves, the barrier stands in the query's log of planned batches: somebody who starts the query in between,
or after a crash, gets an error in place of a query that begins from nothing.
"""

from __future__ import annotations

from streamjob_agent.repartition.files import Files, move
from streamjob_agent.repartition.journal import Direction, barrier_text
from streamjob_agent.repartition.place import Place


def raise_barrier(files: Files, place: Place, direction: Direction) -> None:
    """From here on no query starts. By a rename, so that it is there whole or not at all."""
    draft = f"{place.room}/barrier"
    files.delete(draft)
    files.write(draft, barrier_text(direction))
    files.rename(draft, place.barrier)


def finish(files: Files, place: Place, direction: Direction) -> None:
    """All that is to be done behind the barrier, then the barrier itself: with it goes the change into force."""
    if direction is Direction.FORWARD:
        _exchange(files, place, coming=place.new_state, going=place.old_state, gone=place.old_is_out)
        for record, own in zip(place.records(place.copy), place.records(place.checkpoint), strict=True):
            if files.exists(record) and not files.exists(own):
                files.rename(record, own)
    else:
        _go_back(files, place)
        for own in place.records(place.checkpoint):
            files.delete(own)
    files.delete(place.barrier)


def turn_back(files: Files, place: Place) -> None:
    """The way forward is blocked, behind the barrier: from now on what is found means the way back."""
    files.write(place.turned_back, "")
    finish(files, place, Direction.BACK)


def _go_back(files: Files, place: Place) -> None:
    if files.exists(place.old_is_out):
        _exchange(files, place, coming=place.old_state, going=place.new_state, gone=f"{place.room}/new-is-out")
    elif files.exists(place.old_state):  # not all of it had left
        move(files, place.old_state, place.state)


def _exchange(files: Files, place: Place, *, coming: str, going: str, gone: str) -> None:
    if not files.exists(gone):
        move(files, place.state, going)
        files.write(gone, "")
    if files.exists(coming):
        move(files, coming, place.state)
