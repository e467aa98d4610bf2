"""What hearing of tasks costs the threads that hear of them, in a driver whose events are made: versions in turns.

    python benchmarks/spark/posting.py [--agents now=agent,before=/another/checkout/agent] [--tasks 200] [--task-ms 15]
        [--figures 60] [--stages 20] [--warm 8] [--rounds 2]

A driver of its own for each turn, with the settings of overhead.py's, a master `local[1]` and the probe attached;
Posting.java posts the events of stages of TASKS tasks on its listener bus, one task every TASK_MS. No task runs, and
none belongs to a key group: what is left is Spark's handing on of events, and the probe's hearing. Milliseconds of CPU
time a stage, by thread, after WARM stages.
"""

from __future__ import annotations

import argparse
import importlib.resources
import json
import pathlib
import statistics
import subprocess
import sys
from typing import Any

from task_ends import jvm

HERE = pathlib.Path(__file__).parent
THREADS = {
    "probe": ("streamjob-events", "spark-listener-group-streamjob"),
    "executorManagement": ("spark-listener-group-executorManagement",),
    "appStatus": ("spark-listener-group-appStatus",),
}


def attached(gateway: Any) -> tuple[Any, Any]:
    """A driver's context with the probe of the agent on the path attached, and a Posting and Threads for it."""
    from streamjob_agent import spark
    from streamjob_agent.spark import source

    conf = gateway.jvm.org.apache.spark.SparkConf().setMaster("local[1]").setAppName("posting")
    conf.set("spark.ui.enabled", "false").set("spark.driver.host", "127.0.0.1")
    session = gateway.jvm.org.apache.spark.sql.SparkSession.builder().config(conf).getOrCreate()
    compiler = gateway.jvm.org.codehaus.janino.SimpleCompiler()
    folder = importlib.resources.files(spark).joinpath("probe")
    own = (HERE / "Posting.java").read_text()
    compiler.cook(source.merged("io.streamjob.probe", [*source.java_files(folder), own]))
    loader = compiler.getClassLoader()
    probe = made(gateway, loader.loadClass("io.streamjob.probe.Probe"))
    probe.open(session.sparkContext(), session)
    probe.attach(session)
    context = gateway.jvm.java.lang.Class.forName("org.apache.spark.SparkContext")
    return made(gateway, loader.loadClass("io.streamjob.probe.Posting"), (context, session.sparkContext())), probe


def made(gateway: Any, found: Any, *arguments: tuple[Any, Any]) -> Any:
    """An object of a class that py4j cannot name; arguments are pairs of type and value."""
    types = gateway.new_array(gateway.jvm.java.lang.Class, len(arguments))
    values = gateway.new_array(gateway.jvm.java.lang.Object, len(arguments))
    for at, (kind, value) in enumerate(arguments):
        types[at], values[at] = kind, value
    return found.getDeclaredConstructor(types).newInstance(values)


def spent_ms(threads: Any) -> dict[str, float]:
    """CPU time of the threads so far, by the names of THREADS."""
    rows = [line.split("\t") for line in threads.spent().splitlines()]
    return {
        part: sum(int(ns) / 1e6 for _, name, ns in rows if name.startswith(names)) for part, names in THREADS.items()
    }


def one_turn(args: argparse.Namespace) -> dict[str, float]:
    """Milliseconds a stage, by thread."""
    gateway = jvm()
    try:
        posting, _ = attached(gateway)
        compiler = gateway.jvm.org.codehaus.janino.SimpleCompiler()
        compiler.cook((HERE / "Threads.java").read_text())
        threads = made(gateway, compiler.getClassLoader().loadClass("streamjob.benchmarks.Threads"))
        for _ in range(args.warm):
            posting.stage(args.tasks, args.figures, args.task_ms)
        early = spent_ms(threads)
        for _ in range(args.stages):
            posting.stage(args.tasks, args.figures, args.task_ms)
        late = spent_ms(threads)
        return {part: (late[part] - early[part]) / args.stages for part in late}
    finally:
        gateway.shutdown()


def main() -> None:
    """Measure each agent in a process of its own, in turns, and print medians."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--agents", default="now=agent")
    parser.add_argument("--tasks", type=int, default=200)
    parser.add_argument("--task-ms", type=int, default=15)
    parser.add_argument("--figures", type=int, default=60)
    parser.add_argument("--stages", type=int, default=20)
    parser.add_argument("--warm", type=int, default=8)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--one", action="store_true", help="one turn, with the agent that Python finds")
    args = parser.parse_args()
    if args.one:
        print(json.dumps(one_turn(args)))
        return
    agents = dict(one.split("=", 1) for one in args.agents.split(","))
    found: dict[str, list[dict[str, float]]] = {name: [] for name in agents}
    for turn in range(args.rounds):
        for name in agents if turn % 2 == 0 else reversed(agents):
            found[name].append(in_process(pathlib.Path(agents[name]).resolve()))
    print(f"| agent | {' | '.join(f'{part}, ms a stage' for part in THREADS)} | rounds |")
    print(f"|---|{'---|' * len(THREADS)}---|")
    for name, turns in found.items():
        cells = [f"{statistics.median(turn[part] for turn in turns):.2f}" for part in THREADS]
        print(f"| {name} | {' | '.join(cells)} | {len(turns)} |", flush=True)


def in_process(agent: pathlib.Path) -> dict[str, float]:
    """One turn of that folder's agent, with this call's arguments."""
    command = [sys.executable, "-P", "-c", RUN, str(agent), str(HERE), *sys.argv[1:], "--one"]
    told = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return dict(json.loads(told.splitlines()[-1]))


RUN = """
import sys
agent, here, *sys.argv[1:] = sys.argv[1:]
sys.path[:0] = [agent, here]
import posting
posting.main()
"""

if __name__ == "__main__":
    main()
