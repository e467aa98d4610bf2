"""How values of a SparkApplication become fields, settings and pod templates. Each factory gives one `Put`."""

from __future__ import annotations

import itertools
from typing import Any

from streamjob_operator.importing.draft import ROLES, Draft, Map, Put
from streamjob_operator.spec.quantities import SPARK_SIZE


def role_of(path: str) -> tuple[str, ...]:
    """The pods that a field speaks of: one, or both where it stands above them."""
    first = path.partition(".")[0]
    return (first,) if first in ROLES else ROLES


def field(*names: str) -> Put:
    """A field of the application."""

    def put(draft: Draft, _: str, value: Any) -> None:
        draft.under(*names[:-1])[names[-1]] = value

    return put


def of_role(name: str) -> Put:
    """A field of application.driver or application.executor."""

    def put(draft: Draft, path: str, value: Any) -> None:
        draft.under(*role_of(path))[name] = value

    return put


def memory(draft: Draft, path: str, value: Any) -> None:
    """A heap as Spark writes it."""
    match = SPARK_SIZE.fullmatch(str(value))
    text = f"{match[1]}{match[2].lower() or 'm'}" if match else str(value)
    draft.under(*role_of(path))["memory"] = text


def pod(name: str) -> Put:
    """A field of the pod's spec."""

    def put(draft: Draft, path: str, value: Any) -> None:
        for role in role_of(path):
            _put(draft.template(role, "spec"), name, value)

    return put


def container(name: str) -> Put:
    """A field of the pod's own container."""

    def put(draft: Draft, path: str, value: Any) -> None:
        for role in role_of(path):
            _put(draft.container(role), name, value)

    return put


def more(name: str) -> Put:
    """Further entries of a list of the pod's own container."""

    def put(draft: Draft, path: str, value: Any) -> None:
        for role in role_of(path):
            draft.container(role).setdefault(name, []).extend(value)

    return put


def metadata(name: str) -> Put:
    """Labels or annotations of the pod."""

    def put(draft: Draft, path: str, value: Any) -> None:
        for role in role_of(path):
            draft.template(role, "metadata", name).update(value)

    return put


def conf(key: str) -> Put:
    """One Spark setting."""

    def put(draft: Draft, _: str, value: Any) -> None:
        draft.conf(key, value)

    return put


def options(draft: Draft, path: str, value: Any) -> None:
    """Options of the JVM, after those that Spark's settings have."""
    (role,) = role_of(path)
    settings, key = draft.under("sparkConf"), f"spark.{role}.extraJavaOptions"
    settings[key] = " ".join(text for text in (settings.get(key), str(value)) if text)


def resource(kind: str, name: str) -> Put:
    """A request or a limit of the pod's own container."""

    def put(draft: Draft, path: str, value: Any) -> None:
        for role in role_of(path):
            draft.container(role).setdefault("resources", {}).setdefault(kind, {})[name] = str(value)

    return put


def sidecars(draft: Draft, path: str, value: Any) -> None:
    """Containers beside the pod's own."""
    for role in role_of(path):
        draft.container(role)
        draft.template(role, "spec")["containers"].extend(value)


def variables(draft: Draft, path: str, value: Any) -> None:
    """A map of names and values."""
    more("env")(draft, path, [{"name": name, "value": str(text)} for name, text in value.items()])


def secret_variables(draft: Draft, path: str, value: Any) -> None:
    """A map of names and keys of secrets."""
    found = [{"name": name, "valueFrom": {"secretKeyRef": reference}} for name, reference in value.items()]
    more("env")(draft, path, found)


def mounted(source: str, name_field: str) -> Put:
    """ConfigMaps or secrets as folders."""

    def put(draft: Draft, path: str, value: Any) -> None:
        for role in role_of(path):
            for one in value:
                volume = _volume(draft, role, one["name"], {source: {name_field: one["name"]}})
                more("volumeMounts")(draft, f"{role}.", [{"name": volume, "mountPath": one["path"]}])

    return put


def _volume(draft: Draft, role: str, name: str, content: Map) -> str:
    """The name of a volume with this content: a ConfigMap and a secret may have one name, or 50 first letters."""
    volumes = draft.template(role, "spec").setdefault("volumes", [])
    known = {one.get("name"): {key: value for key, value in one.items() if key != "name"} for one in volumes}
    first = f"{name[:50]}-volume".replace(".", "-")
    names = itertools.chain([first], (f"{first}-{number}" for number in itertools.count(2)))
    volume = next(one for one in names if known.get(one, content) == content)
    if volume not in known:
        volumes.append({"name": volume, **content})
    return volume


_SECRET_VARIABLES = {
    "GCPServiceAccount": ("GOOGLE_APPLICATION_CREDENTIALS", "key.json"),
    "HadoopDelegationToken": ("HADOOP_TOKEN_FILE_LOCATION", "hadoop.token"),
}


def secrets(draft: Draft, path: str, value: Any) -> None:
    """Secrets as folders, and the variable that names a well-known one."""
    mounted("secret", "secretName")(draft, path, value)
    for one in value:
        known = _SECRET_VARIABLES.get(str(one.get("secretType")))
        if known is not None:
            more("env")(draft, path, [{"name": known[0], "value": f"{one['path'].rstrip('/')}/{known[1]}"}])


def _put(place: Map, name: str, value: Any) -> None:
    """Over what a pod template said before: lists grow, maps get more keys, anything else is replaced."""
    there = place.get(name)
    if isinstance(there, list) and isinstance(value, list):
        place[name] = [*there, *value]
    elif isinstance(there, dict) and isinstance(value, dict):
        place[name] = {**there, **value}
    else:
        place[name] = value
