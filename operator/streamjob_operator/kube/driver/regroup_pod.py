"""The pod that changes the number of key groups: the driver's own, with another command. Pure.

It has the driver's image, account, volumes, settings and places, so that it reaches the checkpoint as the driver does.
"""

from __future__ import annotations

from typing import Any

from streamjob_operator.kube.driver import naming, settings
from streamjob_operator.kube.driver.merge import overlay
from streamjob_operator.kube.driver.monitoring import scrape_annotations
from streamjob_operator.kube.driver.observe import CONTAINER
from streamjob_operator.kube.driver.pod import POD_ADDRESS, driver_manifest
from streamjob_operator.kube.driver.regroup import purpose
from streamjob_operator.kube.driver.values import Change, JobFacts, Step
from streamjob_operator.kube.names import APPLICATION_HASH

_OF_A_DRIVER = ("ports", "readinessProbe", "livenessProbe", "startupProbe", "lifecycle")
"""Of its container: nothing listens here."""
_DEFAULT_WORDS = "/dev/termination-log"
"""Where Kubernetes reads a container's last words unless the container says where."""


def change_manifest(job: JobFacts, change: Change) -> dict[str, Any]:
    """To be made as it is. Raises ValueError where the job does not name its checkpoint."""
    if job.application.checkpoint is None:
        raise ValueError("checkpoint: None given, the state is changed there")
    what = ["--undo"] if change.step is Step.UNDO else ["--key-groups", str(change.wanted)]
    driver = driver_manifest(job)
    main, *others = driver["spec"]["containers"]
    kept = {name: value for name, value in main.items() if name not in _OF_A_DRIVER}
    container = {
        **overlay(kept, {"name": CONTAINER, "env": [_in_one_process(), _last_words(main)]}),
        "command": ["python3", "-m", "streamjob_agent", "repartition"],
        "args": [job.application.checkpoint, *what],
    }
    metadata = driver["metadata"]
    scraped = scrape_annotations(job.monitoring)
    annotations = {name: value for name, value in metadata["annotations"].items() if name not in scraped}
    return {
        **driver,
        "metadata": {
            **metadata,
            "name": naming.change_name(job.name),
            "labels": {**metadata["labels"], **naming.change_labels(job.name)},
            "annotations": {**annotations, APPLICATION_HASH: purpose(change)},
        },
        "spec": {**driver["spec"], "containers": [container, *others]},
    }


def _in_one_process() -> dict[str, str]:
    """The driver's Spark settings, but without executors, and at the pod's own address: no service leads here."""
    address = f"$({POD_ADDRESS})"
    own = {"spark.master": "local[*]", "spark.driver.host": address, settings.BIND_ADDRESS: address}
    words = [f"--properties-file {settings.FOLDER}/{settings.SETTINGS_FILE}"]
    words += [f"--conf {name}={value}" for name, value in own.items()]
    return {"name": "PYSPARK_SUBMIT_ARGS", "value": " ".join([*words, "pyspark-shell"])}


def _last_words(container: dict[str, Any]) -> dict[str, str]:
    """A refusal as it was said: the log, which is read where nothing is left there, has Spark's lines around it."""
    return {"name": "STREAMJOB_LAST_WORDS", "value": container.get("terminationMessagePath") or _DEFAULT_WORDS}
