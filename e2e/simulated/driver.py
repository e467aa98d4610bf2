"""`python -m e2e.simulated.driver WORLD.yaml ...`: a driver's process, configured as a real one, until SIGTERM."""

from __future__ import annotations

import argparse
import os
import signal
import threading
import types
from pathlib import Path

from e2e.simulated.spark import SimulatedSpark
from streamjob_agent.attach import Host
from streamjob_agent.config import AgentConfig
from streamjob_sim.reading import read_world


def main() -> None:
    """Run it; the agent is configured by STREAMJOB_AGENT_..., as in a pod."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("world", type=Path)
    parser.add_argument("--application", required=True, help="application id, another one for each driver")
    parser.add_argument("--journal", type=Path, required=True, help="file of JSON lines: what was asked of the cluster")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    world = read_world(options.world)
    stop = threading.Event()
    for one in (signal.SIGTERM, signal.SIGINT):
        signal.signal(one, lambda *_: stop.set())
    config, complaints = AgentConfig.from_env(os.environ)

    def connect(_: object) -> SimulatedSpark:
        return SimulatedSpark(world, options.application, options.seed, options.journal)

    host = Host(config, complaints, connect=connect)
    host.session_appeared(types.SimpleNamespace(sparkContext=object()))
    stop.wait()
    host.close()


if __name__ == "__main__":
    main()
