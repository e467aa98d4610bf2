"""The driver's pod, and the template of its executors' pods. Pure.

From below: defaults, the user's podTemplate, then what the driver cannot do without.
"""

from __future__ import annotations

import hashlib
import json
from typing import Any

from streamjob_operator.kube.api.owners import owner_reference
from streamjob_operator.kube.driver import conf_folders, executor_size, naming, settings
from streamjob_operator.kube.driver.merge import overlay, with_main_first
from streamjob_operator.kube.driver.monitoring import AGENT_PORT, AGENT_PORT_NAME, scrape_annotations
from streamjob_operator.kube.driver.observe import CONTAINER
from streamjob_operator.kube.driver.values import JobFacts
from streamjob_operator.kube.names import APPLICATION_HASH
from streamjob_operator.spec import Application, program

Manifest = dict[str, Any]
GRACE_S = 120
"""Default time for a driver to stop between two batches; podTemplate's terminationGracePeriodSeconds replaces it."""
STOP_MARGIN_S = 15
"""Of the grace, what is left for Spark itself to stop once its queries have."""
_SCRATCH_VOLUME = "streamjob-scratch"
POD_ADDRESS = "STREAMJOB_POD_IP"
_POD_SECURITY = {"runAsNonRoot": True, "seccompProfile": {"type": "RuntimeDefault"}}
_NODE_GONE_S = 30
_NODE_GONE = [
    {"key": key, "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": _NODE_GONE_S}
    for key in ("node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable")
]
_CONTAINER_SECURITY = {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}}


def application_hash(job: JobFacts) -> str:
    """Changes whenever spec.application does, and with nothing else: it decides whether the driver is started anew."""
    document = job.application.model_dump(mode="json", by_alias=True, exclude_defaults=True, exclude={"restart"})
    return hashlib.sha256(json.dumps(document, sort_keys=True).encode()).hexdigest()[:16]


def mistakes(job: JobFacts) -> tuple[str, ...]:
    """Sentences about what no driver can be made from."""
    if job.application.image is None:
        return ("application.image: nothing given; on Kubernetes an image is needed.",)
    return ()


def driver_manifest(job: JobFacts) -> Manifest:
    """The driver's pod, to be made as it is: nothing of it changes later."""
    template = overlay(_driver_defaults(job), with_main_first(job.application.driver.pod_template, CONTAINER))
    pod = overlay(template, _driver_needs(job, grace_s(job.application)))
    pod["metadata"]["name"] = naming.driver_name(job.name)
    pod["metadata"]["namespace"] = job.namespace
    pod["metadata"]["ownerReferences"] = [owner_reference(job.owner)]
    return dict(pod)


def account(job: JobFacts) -> str:
    """The driver's service account: the one that its template names, for a cloud's identities, else one of its own."""
    named = (job.application.driver.pod_template.get("spec") or {}).get("serviceAccountName")
    return str(named or naming.driver_name(job.name))


def grace_s(application: Application) -> int:
    """Time in which the driver may stop between two batches, seconds."""
    told = (application.driver.pod_template.get("spec") or {}).get("terminationGracePeriodSeconds")
    return GRACE_S if told is None else int(told)


def trials(job: JobFacts) -> tuple[tuple[str, Manifest], ...]:
    """The pods that will be made, under names of their own, to be tried by dry run; each with what to call it."""
    driver, executor = driver_manifest(job), executor_template(job)
    driver["metadata"] = {**driver["metadata"], "name": naming.child_name(job.name, "driver-trial")}
    main, *others = executor["spec"]["containers"]  # Spark adds the image, and sizes: a quota may ask for them
    sized = overlay(main, {"resources": executor_size.resources(settings.merged(job)[0])})
    executor["spec"] = {
        **executor["spec"],
        "containers": [{"image": settings.executor_image(job.application), **sized}, *others],
    }
    address = {"name": naming.child_name(job.name, "executor-trial"), "namespace": job.namespace}
    executor["metadata"] = {**executor["metadata"], **address}
    return ("application.driver", driver), ("application.executor", executor)


def _driver_defaults(job: JobFacts) -> Manifest:
    driver = job.application.driver
    memory = settings.container_memory(driver.memory)
    container = {
        "name": CONTAINER,
        "resources": {"requests": {"cpu": str(driver.cores), "memory": memory}, "limits": {"memory": memory}},
        "securityContext": _CONTAINER_SECURITY,
        "terminationMessagePolicy": "FallbackToLogsOnError",  # so that its last words outlive it
        "env": [
            # First of all, because a variable can only refer to one before it.
            {"name": POD_ADDRESS, "valueFrom": {"fieldRef": {"fieldPath": "status.podIP"}}},
            {"name": "PYTHONUNBUFFERED", "value": "1"},
            {"name": "SPARK_LOCAL_DIRS", "value": settings.SCRATCH},
        ],
        "volumeMounts": [{"name": _SCRATCH_VOLUME, "mountPath": settings.SCRATCH}],
    }
    spec = {
        "terminationGracePeriodSeconds": GRACE_S,
        "serviceAccountName": naming.driver_name(job.name),
        "volumes": [{"name": _SCRATCH_VOLUME, "emptyDir": {}}],
        "securityContext": _POD_SECURITY,
        "containers": [container],
        "enableServiceLinks": False,
    }
    return {"metadata": {"annotations": scrape_annotations(job.monitoring)}, "spec": spec}


def _driver_needs(job: JobFacts, grace_s: int) -> Manifest:
    application = job.application
    found, _ = settings.merged(job)
    folders = conf_folders.of_driver(application)
    ports = [
        {"name": AGENT_PORT_NAME, "containerPort": AGENT_PORT},
        {"name": "driver", "containerPort": int(found[settings.DRIVER_PORT])},
        {"name": "blocks", "containerPort": int(found[settings.BLOCK_PORT])},
    ]
    container = {
        "name": CONTAINER,
        "image": application.driver.image or application.image,
        "command": ["python3", "-m", "streamjob_agent", "run"],
        "args": program.words(application),
        "env": [*_environment(job, grace_s), *conf_folders.variables(folders)],
        "ports": ports,
        "readinessProbe": {"httpGet": {"path": "/healthz", "port": AGENT_PORT_NAME}, "periodSeconds": 2},
        "volumeMounts": [
            {"name": "streamjob-settings", "mountPath": settings.FOLDER, "readOnly": True},
            *conf_folders.mounts(folders),
        ],
    }
    spec = {
        "restartPolicy": "Never",
        "automountServiceAccountToken": True,
        "containers": [container],
        "volumes": [
            {"name": "streamjob-settings", "configMap": {"name": naming.settings_name(job.name)}},
            *conf_folders.volumes(folders),
        ],
    }
    labels = {**naming.job_labels(job.name), **naming.driver_labels(job.name)}
    return {"metadata": {"labels": labels, "annotations": {APPLICATION_HASH: application_hash(job)}}, "spec": spec}


def _environment(job: JobFacts, grace_s: int) -> list[Manifest]:
    arguments = f"--properties-file {settings.FOLDER}/{settings.SETTINGS_FILE}"
    values = {
        "PYSPARK_SUBMIT_ARGS": f"{arguments} --conf {settings.BIND_ADDRESS}=$({POD_ADDRESS}) pyspark-shell",
        "STREAMJOB_AGENT_HOST": "0.0.0.0",
        "STREAMJOB_AGENT_PORT": str(AGENT_PORT),
        "STREAMJOB_AGENT_PARTITION_MAP": f"{job.namespace}/{job.name}",
        "STREAMJOB_AGENT_STOP_GRACE_S": str(max(1, grace_s - STOP_MARGIN_S)),
    }
    if job.application.checkpoint is not None:
        values["STREAMJOB_CHECKPOINT"] = job.application.checkpoint
    return [{"name": name, "value": value} for name, value in values.items()]


def executor_template(job: JobFacts) -> Manifest:
    """The template that Spark makes executors' pods from; Spark adds image, sizes, arguments and its own labels."""
    container = {"name": settings.EXECUTOR_CONTAINER, "securityContext": _CONTAINER_SECURITY}
    below = {
        "spec": {
            "securityContext": _POD_SECURITY,
            "automountServiceAccountToken": False,  # an executor has nothing to ask of the API server
            "enableServiceLinks": False,
            "containers": [container],
        }
    }
    template = with_main_first(job.application.executor.pod_template, settings.EXECUTOR_CONTAINER)
    needs = {"metadata": {"labels": naming.job_labels(job.name)}, "spec": {"tolerations": _tolerations(template)}}
    above = overlay(needs, _executor_folders(job))
    return {"apiVersion": "v1", "kind": "Pod", **overlay(overlay(below, template), above)}


def _tolerations(template: Manifest) -> list[Manifest]:
    """The user's, and that an executor leaves a node that is gone soon: Kubernetes' own default is five minutes."""
    theirs = template["spec"].get("tolerations") or []
    spoken_of = {one.get("key") for one in theirs}
    if None in spoken_of:  # one without a key is of everything
        return list(theirs)
    return [*theirs, *(one for one in _NODE_GONE if one["key"] not in spoken_of)]


def _executor_folders(job: JobFacts) -> Manifest:
    folders = conf_folders.of_executor(job.application)
    if not folders:
        return {}
    container = {
        "name": settings.EXECUTOR_CONTAINER,
        "env": conf_folders.variables(folders),
        "volumeMounts": conf_folders.mounts(folders),
    }
    return {"spec": {"volumes": conf_folders.volumes(folders), "containers": [container]}}
