"""The live view: a screen that is redrawn on a terminal, one readable line per cycle anywhere else."""

from __future__ import annotations

from collections import deque

from rich.console import Console
from rich.live import Live

from streamjob_operator.digest import CycleDigest, digest
from streamjob_operator.spec import StreamJob
from streamjob_operator.terminal import Plain
from streamjob_operator.values import CycleRecord
from streamjob_operator.view_panels import line, screen

REMEMBERED_CYCLES = 60


class LiveView:
    """Reporter for people. On a terminal call :meth:`close` at the end, so that the cursor comes back."""

    def __init__(self, job: StreamJob | None = None, console: Console | None = None) -> None:
        self._name = job.metadata.name if job else "job"
        self._bound_pct = job.spec.balancing.tolerated_load_distance_pct if job else None
        self._console = console or Plain()
        self._past: deque[CycleDigest] = deque(maxlen=REMEMBERED_CYCLES)
        self._moves_done = 0
        self._live: Live | None = None

    def report(self, record: CycleRecord) -> None:
        """Show one cycle."""
        now = digest(record)
        self._past.append(now)
        self._moves_done += now.moves
        if self._console.is_terminal:
            self._draw()
        else:
            text = line(now, self._bound_pct, self._moves_done)
            self._console.print(text, soft_wrap=True, markup=False, highlight=False)

    def close(self) -> None:
        """Leave the last screen standing and give the terminal back; may be called twice."""
        if self._live is not None:
            self._live.stop()
            self._live = None

    def _draw(self) -> None:
        shown = screen(self._name, tuple(self._past), self._bound_pct, self._moves_done)
        if self._live is None:
            self._live = Live(shown, console=self._console, auto_refresh=False)
            self._live.start()
        self._live.update(shown, refresh=True)
