"""Everything that stands around the driver's pod: account, role, service, settings. Pure."""

from __future__ import annotations

import json
from typing import Any

from streamjob_operator.kube.api.children import owned_metadata
from streamjob_operator.kube.api.kinds import (
    CONFIG_MAPS,
    PODS,
    ROLE_BINDINGS,
    ROLES,
    SERVICE_ACCOUNTS,
    SERVICES,
    VOLUME_CLAIMS,
    Kind,
)
from streamjob_operator.kube.api.rights import SPARKS, map_rules
from streamjob_operator.kube.driver import naming, settings
from streamjob_operator.kube.driver.monitoring import AGENT_PORT, AGENT_PORT_NAME
from streamjob_operator.kube.driver.pod import account, executor_template
from streamjob_operator.kube.driver.values import JobFacts

Manifest = dict[str, Any]


def manifests(job: JobFacts) -> list[tuple[Kind, Manifest]]:
    """What must be there before the driver's pod, in this order."""
    own = account(job) == naming.driver_name(job.name)
    return [
        *([(SERVICE_ACCOUNTS, service_account(job))] if own else []),
        (ROLES, role(job)),
        (ROLE_BINDINGS, role_binding(job)),
        (SERVICES, service(job)),
        (CONFIG_MAPS, config_map(job)),
    ]


def metadata(job: JobFacts, name: str) -> Manifest:
    """Name, labels, and the owner with whom the object goes."""
    return owned_metadata(job.owner, name, naming.job_labels(job.name))


def service_account(job: JobFacts) -> Manifest:
    """The driver's own account, where its template names no other."""
    return {"metadata": metadata(job, naming.driver_name(job.name))}


def role(job: JobFacts) -> Manifest:
    """What Spark does to its executors, and the agent to its one PartitionMap; nothing else.

    Spark makes executors' pods, their settings and volumes, and lists and deletes them by label, services too, when it
    stops: RBAC knows no labels, so these verbs hold for the namespace.
    """
    everything = [one.plural for one in (PODS, CONFIG_MAPS, SERVICES, VOLUME_CLAIMS)]
    rules = [{"apiGroups": [""], "resources": everything, "verbs": list(SPARKS)}, *map_rules(job.name)]
    return {"metadata": metadata(job, naming.driver_name(job.name)), "rules": rules}


def role_binding(job: JobFacts) -> Manifest:
    """The role for the account."""
    name = naming.driver_name(job.name)
    return {
        "metadata": metadata(job, name),
        "roleRef": {"apiGroup": ROLES.group, "kind": ROLES.kind, "name": name},
        "subjects": [{"kind": SERVICE_ACCOUNTS.kind, "name": account(job), "namespace": job.namespace}],
    }


def service(job: JobFacts) -> Manifest:
    """A headless service: the name by which executors find the driver, also before it is ready."""
    found, _ = settings.merged(job)
    ports = [
        {"name": "driver", "port": int(found[settings.DRIVER_PORT])},
        {"name": "blocks", "port": int(found[settings.BLOCK_PORT])},
        {"name": AGENT_PORT_NAME, "port": AGENT_PORT},
    ]
    spec = {
        "clusterIP": "None",
        "publishNotReadyAddresses": True,
        "selector": naming.driver_labels(job.name),
        "ports": ports,
    }
    return {"metadata": metadata(job, naming.driver_name(job.name)), "spec": spec}


def config_map(job: JobFacts) -> Manifest:
    """Spark's settings and the template of executors' pods, as files."""
    found, _ = settings.merged(job)
    data = {
        settings.SETTINGS_FILE: settings.properties(found),
        settings.EXECUTOR_TEMPLATE: json.dumps(executor_template(job), indent=2, sort_keys=True),  # JSON is YAML
    }
    return {"metadata": metadata(job, naming.settings_name(job.name)), "data": data}
