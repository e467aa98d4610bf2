"""How to reach the API server: a kubeconfig file, or the pod's own account."""

from __future__ import annotations

import os
from pathlib import Path

import yaml
from kubernetes import config
from kubernetes.client import Configuration

from streamjob_operator.ports import Unavailable
from streamjob_operator.unsteered import one_line


def configuration(path: str | Path | None = None, *, context: str | None = None) -> Configuration:
    """From that file, else from KUBECONFIG, else the pod's own account, else ~/.kube/config; raises Unavailable."""
    settings = Configuration()
    try:
        if path is None and context is None and "KUBECONFIG" not in os.environ and in_pod():
            config.load_incluster_config(client_configuration=settings)
        else:
            file = None if path is None else str(path)
            config.load_kube_config(file, context=context, client_configuration=settings)
    except (config.ConfigException, OSError, ValueError) as error:
        raise Unavailable(f"No way to the API server is known: {str(error).rstrip('.')}.") from error
    except (yaml.YAMLError, TypeError, LookupError, AttributeError) as error:  # the library reads it as it comes
        what = f"{path or os.environ.get('KUBECONFIG') or 'the kubeconfig'} is no kubeconfig"
        raise Unavailable(f"No way to the API server is known: {what}: {one_line(str(error))}.") from error
    return settings


def in_pod() -> bool:
    """Whether this process runs in a pod that may talk to its API server."""
    return "KUBERNETES_SERVICE_HOST" in os.environ


def own_namespace(default: str = "default") -> str:
    """The pod's own namespace."""
    try:
        return Path("/var/run/secrets/kubernetes.io/serviceaccount/namespace").read_text(encoding="utf-8").strip()
    except OSError:
        return default


def default_namespace(path: str | None = None, context: str | None = None) -> str:
    """The namespace that kubectl would use; without a kubeconfig the pod's own."""
    try:
        contexts, current = config.list_kube_config_contexts(path)
    except (config.ConfigException, OSError):
        return own_namespace()
    found = next((one for one in contexts if one["name"] == context), current)
    return str((found.get("context") or {}).get("namespace") or "default")
