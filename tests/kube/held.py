"""How much this process holds, told by a signal: entries of each container, instances of each class, tasks, threads."""

from __future__ import annotations

import asyncio
import dataclasses
import gc
import json
import os
import signal
import threading
from collections import Counter
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any

WHOSE = ("streamjob_operator", "kopf", "prometheus_client")


def tell_held(path: Path) -> None:
    """From now on SIGUSR1 writes it to that file, whole."""

    def tell(*_: object) -> None:
        draft = path.with_suffix(".draft")
        draft.write_text(json.dumps(held()), encoding="utf-8")
        os.replace(draft, path)

    signal.signal(signal.SIGUSR1, tell)


def held() -> dict[str, int]:
    """Numbers by what they are of."""
    gc.unfreeze()  # what was there at the start is looked at, too
    gc.collect()
    found: Counter[str] = Counter()
    for one in gc.get_objects():
        kind = type(one)
        if str(kind.__module__).startswith(WHOSE) and not isinstance(one, type):
            name = f"{kind.__module__}.{kind.__qualname__}"
            found[name] += 1
            for field, value in _fields(one):
                if isinstance(value, Collection) and not isinstance(value, str | bytes):
                    found[f"{name}.{field}"] += len(value)
    found["tasks"] = len(asyncio.all_tasks(asyncio.get_event_loop()))
    found["threads"] = threading.active_count()
    return dict(found)


def _fields(one: Any) -> Iterator[tuple[str, object]]:
    try:
        if dataclasses.is_dataclass(one):
            yield from ((field.name, getattr(one, field.name)) for field in dataclasses.fields(one))
        else:
            yield from vars(one).items()
    except (AttributeError, TypeError):
        return  # it has none yet, or slots
