"""The child process: `python -m benchmarks.peers.run_peer NAME INSTANCE.npz ANSWER.npy SECONDS`.

Says "ready" once the model is built, so that building is not on the peer's clock, and "done" with both times.
"""

from __future__ import annotations

import functools
import importlib
import sys
import time
from pathlib import Path

from benchmarks.peers.instance import Incumbent, load_instance


def main() -> None:
    """Build, say so, solve, say so."""
    name, source, answer, seconds = sys.argv[1:]
    module, _, variant = name.partition("/")
    prepare = importlib.import_module(f"benchmarks.peers.{module}_peer").prepare
    if variant:
        prepare = functools.partial(prepare, variant=variant)
    instance = load_instance(Path(source))
    incumbent = Incumbent(instance, Path(answer))
    began = time.monotonic()
    run = prepare(instance, incumbent)
    built = time.monotonic()
    print("ready", flush=True)
    run(float(seconds))
    print(f"done {built - began:.3f} {time.monotonic() - built:.3f}", flush=True)


if __name__ == "__main__":
    main()
