"""Compiles the inner loops ahead of time into an extension module, which needs neither numba nor LLVM: for an image.

`python -m streamjob_planners.building FOLDER` leaves it and a file that says for which arrays it was made in FOLDER;
they are used where they lie beside `kernel/ahead.py`. It needs numba, setuptools, a C++ compiler and Python's headers,
and compiles the loops that `warm_up` calls, for any processor of this architecture or for that of NUMBA_CPU_NAME.
"""

from __future__ import annotations

import importlib
import json
import os
import sys
from collections.abc import Iterable
from pathlib import Path
from types import ModuleType
from typing import Any

from streamjob_planners.kernel import ahead
from streamjob_planners.warm import warm_up

# Numba's annotations are of a small part of it.
numba: Any = importlib.import_module("numba")
dispatcher: Any = importlib.import_module("numba.core.dispatcher")
pycc: Any = importlib.import_module("numba.pycc")


class Call:
    """A loop that remembers the types that Python called it with."""

    def __init__(self, loop: Any) -> None:
        self.loop = loop
        self.made_for: set[tuple[tuple[Any, ...], Any]] = set()

    def __call__(self, *values: Any) -> Any:
        """What the loop gives."""
        self.made_for.add((tuple(map(numba.typeof, values)), ahead.layout_of(values)))
        return self.loop(*values)


def called() -> dict[str, Call]:
    """The loops that Python calls, by their names in the module."""
    warm_up()  # Compiles them all: while Python's names stand for what remembers, no loop could be.
    calls: dict[str, Call] = {}
    places = list(places_of_loops())
    for module, name, loop in places:
        setattr(module, name, calls.setdefault(ahead.name_of(loop.py_func), Call(loop)))
    warm_up.__wrapped__()
    for module, name, loop in places:
        setattr(module, name, loop)
    return {name: call for name, call in sorted(calls.items()) if call.made_for}


def build(folder: Path) -> tuple[str, ...]:
    """Leave both files there; names of the loops. Raises ValueError for one that is called with two kinds of arrays."""
    module = pycc.CC(ahead.MODULE, source_module=ahead)
    layouts: dict[str, tuple[object, ...]] = {}
    module.output_dir, module.use_nrt, module.target_cpu = str(folder), False, os.environ.get("NUMBA_CPU_NAME", "")
    for name, call in called().items():
        if len(call.made_for) > 1:
            raise ValueError(f"{name} is called with {len(call.made_for)} kinds of arguments: {call.made_for}")
        ((types, layouts[name]),) = call.made_for
        result = next(iter(call.loop.overloads.values())).signature.return_type
        module.export(name, numba.core.typing.signature(result, *types))(call.loop.py_func)
    pycc.compiler.Flags = _flags
    module.compile()
    (folder / ahead.LAYOUTS).write_text(json.dumps(layouts), encoding="utf-8")
    return tuple(layouts)


def _flags() -> Any:
    """What the `compiled` loops are compiled with; the module itself has no options for these."""
    flags = numba.core.compiler.Flags()
    flags.release_gil, flags.error_model = True, "numpy"
    return flags


def places_of_loops() -> Iterable[tuple[ModuleType, str, Any]]:
    """Where the planners' modules hold loops: module, name there, loop."""
    for title, module in list(sys.modules.items()):
        if title.partition(".")[0] == __package__:
            yield from (
                (module, name, one)
                for name, one in list(vars(module).items())
                if isinstance(one, dispatcher.Dispatcher)
            )


if __name__ == "__main__":
    print(*build(Path(sys.argv[1])), sep="\n")  # noqa: T201
