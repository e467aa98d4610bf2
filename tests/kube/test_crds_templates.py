"""Pod templates on the real API server: what is StreamJob's is refused with the sentence of `streamjob validate`."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from kubernetes import client, config

from streamjob_operator.spec import SpecError, parse_job

DRIVER, EXECUTOR = "driver", "executor"
CONTAINERS = "podTemplate.spec.containers"
SETTINGS = "volumeMounts of the driver's container: '/etc/streamjob/' given; Spark's settings are there, leave it out"
LABELLED = "'x' given; by it the pod is found, leave it out"
NAMED = "it is made by StreamJob, leave it out"
NULLS = {
    "metadata": {"name": None, "labels": {"spark-role": None}, "annotations": None, "creationTimestamp": None},
    "spec": {"containers": [{"image": None, "env": None, "command": None}], "volumes": None, "restartPolicy": None},
}
"""What a program writes that has empty lists and maps."""
THEIRS: dict[str, Any] = {
    "metadata": {"labels": {"team": "a"}, "annotations": {"iam": "role"}},
    "spec": {
        "serviceAccountName": "s3-writer",
        "volumes": [{"name": "data", "emptyDir": {}}],
        "containers": [
            {"name": "log", "image": "log:1", "command": ["log"], "args": ["x"], "readinessProbe": {"exec": {}}},
            {"name": "driver", "env": [{"name": "A", "value": "x"}, {"value": "nameless"}]},
            {"name": "executor", "volumeMounts": [{"name": "data", "mountPath": "/etc/streamjobs"}], "env": None},
        ],
    },
}


def inside(**container: Any) -> dict[str, Any]:
    return {"spec": {"containers": [container]}}


def second(**container: Any) -> dict[str, Any]:
    return {"spec": {"containers": [{"name": "log", "image": "log:1"}, {"name": "driver", **container}]}}


def env(name: str) -> dict[str, Any]:
    return {"env": [{"name": "A", "value": "b"}, {"name": name, "value": "x"}]}


def mounted(path: str) -> dict[str, Any]:
    return {"volumeMounts": [{"name": "data", "mountPath": path}]}


def given(role: str, field: str, value: str, why: str) -> str:
    return f"{field} of the {role}'s container: {value} given; {why}, leave it out"


IMAGE = "application.{0}.image says it, or application.image for all pods"
SCRIPT = "the agent starts the script; application.mainFile names it"
ENV = "StreamJob sets it; Spark's settings go to sparkConf"
REFUSED: list[tuple[str, dict[str, Any], str, str]] = [
    (DRIVER, {"metadata": {"name": "x"}}, "podTemplate.metadata.name", f"'x' given; {NAMED}"),
    (EXECUTOR, {"metadata": {"generateName": "x"}}, "podTemplate.metadata.generateName", f"'x' given; {NAMED}"),
    (
        DRIVER,
        {"metadata": {"namespace": "x"}},
        "podTemplate.metadata.namespace",
        "'x' given; it is the StreamJob's, leave it out",
    ),
    (
        DRIVER,
        {"metadata": {"ownerReferences": [{"uid": "x"}]}},
        "podTemplate.metadata.ownerReferences",
        f"a list given; {NAMED}",
    ),
    *(
        (
            EXECUTOR,
            {"metadata": {"labels": {name: "x"}}},
            f"podTemplate.metadata.labels[{name}]",
            LABELLED,
        )
        for name in ("streamjob.dev/job", "spark-role", "spark-app-selector", "spark-exec-id")
    ),
    (DRIVER, inside(image="mine"), CONTAINERS, given(DRIVER, "image", "'mine'", IMAGE.format(DRIVER))),
    (EXECUTOR, inside(image="mine"), CONTAINERS, given(EXECUTOR, "image", "'mine'", IMAGE.format(EXECUTOR))),
    (DRIVER, inside(name="main", command=["sh"]), CONTAINERS, given(DRIVER, "command", "a list", SCRIPT)),
    (DRIVER, second(command=["sh"]), CONTAINERS, given(DRIVER, "command", "a list", SCRIPT)),
    (DRIVER, second(args=["x"]), CONTAINERS, given(DRIVER, "args", "a list", "application.args says them")),
    (EXECUTOR, inside(args=["x"]), CONTAINERS, given(EXECUTOR, "args", "a list", "Spark says them")),
    (
        DRIVER,
        inside(readinessProbe={"exec": {}}),
        CONTAINERS,
        given(DRIVER, "readinessProbe", "a map", "the agent's own is needed"),
    ),
    (DRIVER, second(**env("STREAMJOB_X")), CONTAINERS, given(DRIVER, "env", "'STREAMJOB_X'", ENV)),
    (DRIVER, inside(**env("PYSPARK_SUBMIT_ARGS")), CONTAINERS, given(DRIVER, "env", "'PYSPARK_SUBMIT_ARGS'", ENV)),
    (DRIVER, inside(**mounted("/etc/streamjob/")), CONTAINERS, SETTINGS),
    (
        DRIVER,
        {"spec": {"volumes": [{"name": "streamjob-settings"}]}},
        "podTemplate.spec.volumes",
        "'streamjob-settings' given; " + NAMED,
    ),
    (
        DRIVER,
        {"spec": {"restartPolicy": "Always"}},
        "podTemplate.spec.restartPolicy",
        "'Always' given; application.restart says when a driver is started again, leave it out",
    ),
    (
        DRIVER,
        {"spec": {"automountServiceAccountToken": False}},
        "podTemplate.spec.automountServiceAccountToken",
        "false given; the driver needs its token to ask for executors, leave it out",
    ),
]
TAKEN: list[tuple[str, dict[str, Any]]] = [
    *(
        (role, template)
        for role in (DRIVER, EXECUTOR)
        for template in ({}, THEIRS, NULLS, {"metadata": None, "spec": None})
    ),
    (EXECUTOR, inside(command=["sh"], readinessProbe={"exec": {}}, **env("STREAMJOB_X"))),
    (EXECUTOR, {"spec": {"restartPolicy": "Always", "automountServiceAccountToken": False}}),
    (DRIVER, {"spec": {"restartPolicy": "Never", "automountServiceAccountToken": True, "containers": []}}),
    (DRIVER, second(env=[]) | {"metadata": {"labels": {}}}),
]
FOLDERS: list[tuple[str, str, dict[str, Any], str, str]] = [
    ("hadoopConfigMap", role, template, where, "/etc/hadoop/conf, where HADOOP_CONF_DIR says they are")
    for role in (DRIVER, EXECUTOR)
    for template, where in (
        (inside(**env("HADOOP_CONF_DIR")), "env of the {0}'s container: 'HADOOP_CONF_DIR'"),
        (inside(**mounted("/etc/hadoop/conf/")), "volumeMounts of the {0}'s container: '/etc/hadoop/conf/'"),
    )
]
FOLDERS += [
    (
        "sparkConfigMap",
        DRIVER,
        inside(**env("SPARK_CONF_DIR")),
        "env of the {0}'s container: 'SPARK_CONF_DIR'",
        "/etc/spark/conf, where SPARK_CONF_DIR says they are",
    )
]


def job(role: str, template: dict[str, Any], **application: Any) -> dict[str, Any]:
    shape = {"image": "registry.example/job:1", "mainFile": "job.py", role: {"podTemplate": template}, **application}
    return {
        "apiVersion": "streamjob.dev/v1alpha1",
        "kind": "StreamJob",
        "metadata": {"name": "a"},
        "spec": {"application": shape, "executors": {"min": 1, "max": 4}},
    }


@pytest.fixture(scope="module")
def api(api_server: Any) -> client.CustomObjectsApi:
    return client.CustomObjectsApi(config.new_client_from_config(str(api_server)))


def server_says(api: client.CustomObjectsApi, document: dict[str, Any]) -> list[tuple[str, str]]:
    """Field and sentence of each mistake."""
    place = {"group": "streamjob.dev", "version": "v1alpha1", "namespace": "default", "plural": "streamjobs"}
    try:
        api.create_namespaced_custom_object(**place, body=document, dry_run="All", field_validation="Strict")
    except client.ApiException as refused:
        causes = json.loads(refused.body)["details"]["causes"]
        told = [(one["field"], re.sub(r'^Invalid value: "[a-z]*": ', "", one["message"])) for one in causes]
        return [one for one in told if "some validation rules were not checked" not in one[1]]
    return []


def reader_says(document: dict[str, Any]) -> list[tuple[str, str]]:
    try:
        parse_job(json.dumps(document))
    except SpecError as refused:
        return [(path, said.removesuffix(".")) for path, _, said in (one.partition(": ") for one in refused.sentences)]
    return []


@pytest.mark.parametrize(("role", "template", "path", "sentence"), REFUSED)
def test_what_streamjob_decides_is_refused_by_both_with_one_sentence(
    api: client.CustomObjectsApi, role: str, template: dict[str, Any], path: str, sentence: str
) -> None:
    document = job(role, template)
    expected = [(f"spec.application.{role}.{path}", sentence)]
    assert (server_says(api, document), reader_says(document)) == (expected, expected)


@pytest.mark.parametrize(("field", "role", "template", "where", "folder"), FOLDERS)
def test_what_a_folder_would_replace_is_refused_by_both_with_one_sentence(
    api: client.CustomObjectsApi, field: str, role: str, template: dict[str, Any], where: str, folder: str
) -> None:
    document = job(role, template, **{field: "conf"})
    said = f"{where.format(role)} given; application.{field} mounts its files at {folder}; leave one of the two out"
    expected = [(f"spec.application.{role}.{CONTAINERS}", said)]
    assert (server_says(api, document), reader_says(document)) == (expected, expected)
    assert server_says(api, job(role, template)) == []  # without the ConfigMap it is the user's own affair


@pytest.mark.parametrize(("role", "template"), TAKEN)
def test_the_rest_is_the_users(api: client.CustomObjectsApi, role: str, template: dict[str, Any]) -> None:
    document = job(role, template, hadoopConfigMap="conf", sparkConfigMap="conf")
    assert (server_says(api, document), reader_says(document)) == ([], [])


@pytest.mark.parametrize(
    ("role", "spec", "path"),
    [
        (DRIVER, {"terminationGracePeriodSeconds": "2m"}, "terminationGracePeriodSeconds"),
        (DRIVER, {"terminationGracePeriodSeconds": -1}, "terminationGracePeriodSeconds"),
        (DRIVER, {"containers": [{"ports": [7980]}]}, "containers[0].ports[0]"),
        (EXECUTOR, {"tolerations": "a"}, "tolerations"),
        (EXECUTOR, {"tolerations": ["a"]}, "tolerations[0]"),
    ],
)
def test_what_the_operator_works_with_has_its_shape(
    api: client.CustomObjectsApi, role: str, spec: dict[str, Any], path: str
) -> None:
    """Of anything else the dry run of the pod tells; these would end the turn before it."""
    ((field, _),) = server_says(api, job(role, {"spec": spec}))
    assert field == f"spec.application.{role}.podTemplate.spec.{path}"
