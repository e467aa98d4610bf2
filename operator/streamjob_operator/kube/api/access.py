"""How to reach the API server: a kubeconfig file, or the pod's own account."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

import yaml
from kubernetes import config
from kubernetes.client import Configuration

from streamjob_operator.ports import Unavailable
from streamjob_operator.spec.bounded_yaml import LARGEST, BoundedLoader
from streamjob_operator.unsteered import one_line

DEFAULT = "~/.kube/config"


def configuration(path: str | Path | None = None, *, context: str | None = None) -> Configuration:
    """From that file, else from KUBECONFIG, else the pod's own account, else ~/.kube/config; raises Unavailable."""
    settings = Configuration()
    inside = path is None and context is None and "KUBECONFIG" not in os.environ and in_pod()
    try:
        if inside:
            config.load_incluster_config(client_configuration=settings)
        else:
            file = None if path is None else str(path)
            _look_through(file or os.environ.get("KUBECONFIG") or DEFAULT)
            config.load_kube_config(file, context=context, client_configuration=settings)
    except (config.ConfigException, OSError, ValueError) as error:
        said = one_line(str(error)).rstrip(".")
        why = said if inside else _why(str(path or os.environ.get("KUBECONFIG") or DEFAULT), said)
        raise Unavailable(f"No way to the API server is known: {why}.") from error
    except (yaml.YAMLError, TypeError, LookupError, AttributeError) as error:  # the library reads it as it comes
        what = f"{path or os.environ.get('KUBECONFIG') or 'the kubeconfig'} is no kubeconfig"
        raise Unavailable(f"No way to the API server is known: {what}: {one_line(str(error))}.") from error
    return settings


def _look_through(where: str) -> None:
    """Raises YAMLError for what is too large: the library writes out what aliases stand for, however much it is."""
    for one in filter(None, where.split(os.pathsep)):
        with contextlib.suppress(OSError), Path(one).expanduser().open(encoding="utf-8") as file:
            yaml.compose(file.read(LARGEST + 1), BoundedLoader)


def _why(where: str, said: str) -> str:
    """What is wrong with a kubeconfig, or with each of several in KUBECONFIG, by its name."""
    if not any(Path(one).expanduser().exists() for one in where.split(os.pathsep) if one):
        return f"{where}: there is no such kubeconfig"
    return said if where in said else f"{where}: {said}"


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
