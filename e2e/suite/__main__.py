"""`python -m e2e.suite [--keep] [pytest's options]`: cluster and images, the cases, the end of the cluster.

The cluster is that of $KUBECONFIG (then STREAMJOB_E2E_OPERATOR, _AGENT, _SPARK and _PROMETHEUS name its images, and
_VOLUMES a folder that its nodes share with this machine), else one that is made and ended here: $CLUSTER, `local` (what
Debian's packages make) or `kind`.

What they need of this machine (Debian's packages, Go, disk, memory, Maven) is looked at before anything is built. No
port of it is taken: the local cluster and an engine of our own have networks of their own, kind asks for any free one.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

from e2e.cluster import helm, images, kafka
from e2e.cluster.image import Image, tagged
from e2e.cluster.volumes import VOLUMES
from e2e.suite import clusters

HERE = Path(__file__).parent
OUT = Path("out/e2e")


def main() -> int:
    """pytest's exit code."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))  # so that everything is ended in order
    options = [one for one in sys.argv[1:] if one != "--keep"]
    keep = "--keep" in sys.argv
    cluster = clusters.wanted(os.environ)
    if isinstance(cluster, str) or (refusal := _refusal(cluster)):
        print(cluster if isinstance(cluster, str) else refusal, file=sys.stderr)
        return 2
    environment = {"STREAMJOB_E2E_HELM": str(helm.get()), "STREAMJOB_E2E_OUT": str(OUT.resolve()), **_kafka()}
    if cluster is None:
        return _pytest((), environment, options)
    return _on(cluster, environment, options, keep)


def _refusal(cluster: clusters.Cluster | None) -> str | None:
    """What this machine lacks for a cluster and its cases. A cluster that is given has them without Kafka's, too."""
    told = (cluster.refusal(), kafka.refusal()) if cluster else ()
    return " ".join(filter(None, told)) or None


def _on(cluster: clusters.Cluster, environment: dict[str, str], options: list[str], keep: bool) -> int:
    made = _images()
    environment |= {f"STREAMJOB_E2E_{name}": image.tag for name, image in made.items()}
    cluster.start()
    try:
        cluster.load(*made.values())
        environment |= {"KUBECONFIG": str(cluster.kubeconfig()), "STREAMJOB_E2E_VOLUMES": str(VOLUMES)}
        return _pytest(cluster.enter(), environment | cluster.environment(), options)
    finally:
        if not keep:
            cluster.stop()


def _images() -> dict[str, Image]:
    """The suite's images, made if need be; those that the environment names are taken as they are."""
    ours = {"OPERATOR": images.operator, "AGENT": images.agent}
    makers = {**ours, "SPARK": images.spark, "PROMETHEUS": images.prometheus}
    given = {name: os.environ.get(f"STREAMJOB_E2E_{name}") for name in makers}
    return {name: tagged(str(given[name])) if given[name] else make() for name, make in makers.items()}


def _kafka() -> dict[str, str]:
    """Where Kafka's jars are; nothing where they cannot be had: its cases say so and are left out."""
    try:
        return {f"STREAMJOB_E2E_KAFKA_{part.upper()}": str(kafka.get(part)) for part in (kafka.BROKER, kafka.CONNECTOR)}
    except RuntimeError as error:
        print(error, file=sys.stderr)
        return {}


def _pytest(enter: tuple[str, ...], environment: dict[str, str], options: list[str]) -> int:
    OUT.mkdir(parents=True, exist_ok=True)
    paths = [one for one in options if "suite" in one] or [str(HERE)]
    rest = [one for one in options if one not in paths]
    command = [
        *enter,
        sys.executable,
        "-m",
        "pytest",
        "-p",
        "e2e.suite.evidence",
        *paths,
        f"--junitxml={OUT / 'junit.xml'}",
        "--timeout=600",
        "-o",
        "junit_family=xunit1",
    ]
    # In a session of its own: a signal to us must let it tell what it knows before the cluster goes.
    running = subprocess.Popen([*command, *rest], env={**os.environ, **environment}, start_new_session=True)
    try:
        return running.wait()
    except BaseException:
        running.send_signal(signal.SIGINT)
        running.wait(60.0)
        raise


if __name__ == "__main__":
    raise SystemExit(main())
