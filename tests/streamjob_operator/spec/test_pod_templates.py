"""What StreamJob or Spark decides is refused in a pod template, and nothing else is."""

from __future__ import annotations

import re
from typing import Any

import pytest
from pydantic import ValidationError

from streamjob_operator.spec import Application
from streamjob_operator.spec.pod_templates import DRIVER, EXECUTOR, template_mistakes

THEIRS: dict[str, Any] = {
    "metadata": {"labels": {"team": "a"}, "annotations": {"iam": "role"}},
    "spec": {
        "serviceAccountName": "s3-writer",
        "nodeSelector": {"disk": "ssd"},
        "volumes": [{"name": "data", "emptyDir": {}}],
        "containers": [
            {"name": "log", "image": "log:1", "command": ["log"], "readinessProbe": {}},
            {"name": "driver", "resources": {}, "env": [{"name": "AWS_REGION", "value": "x"}]},
        ],
    },
}


def said_of(template: dict[str, Any], role: str = DRIVER) -> list[str]:
    return [f"{one.path}: {one.said}" for one in template_mistakes(template, role)]


def test_the_users_own_is_no_mistake() -> None:
    assert said_of(THEIRS) == []
    assert said_of({}) == []


def test_null_is_nothing() -> None:
    assert said_of({"metadata": {"name": None, "labels": {"spark-role": None}}, "spec": {"restartPolicy": None}}) == []
    assert said_of(inside(command=None)) == []


def inside(**container: Any) -> dict[str, Any]:
    return {"spec": {"containers": [container]}}


@pytest.mark.parametrize(
    ("template", "said"),
    [
        (inside(image="mine"), "image of the driver's container: 'mine' given; application.driver.image says it"),
        (
            inside(name="driver", command=["sh"]),
            "command of the driver's container: a list given; the agent starts the script",
        ),
        (inside(args=["x"]), "application.args"),
        (inside(readinessProbe={}), "readinessProbe"),
        (inside(env=[{"name": "PYSPARK_SUBMIT_ARGS"}]), "env of the driver's container: 'PYSPARK_SUBMIT_ARGS' given"),
        (inside(env=[{"name": "STREAMJOB_AGENT_PORT"}]), "env of the driver's container: 'STREAMJOB_AGENT_PORT' given"),
        ({"spec": {"restartPolicy": "Always"}}, "application.restart says when"),
        ({"spec": {"automountServiceAccountToken": False}}, "needs its token"),
        ({"metadata": {"name": "x"}}, "metadata.name"),
        ({"metadata": {"namespace": "x"}}, "metadata.namespace"),
        ({"metadata": {"labels": {"spark-role": "executor"}}}, "metadata.labels[spark-role]: 'executor' given"),
        (
            {"spec": {"volumes": [{"name": "streamjob-settings"}]}},
            "spec.volumes: 'streamjob-settings' given; it is made by",
        ),
        (
            inside(volumeMounts=[{"mountPath": "/etc/streamjob/"}]),
            "volumeMounts of the driver's container: '/etc/streamjob/' given; Spark's settings",
        ),
    ],
)
def test_what_would_be_overridden_is_refused(template: dict[str, Any], said: str) -> None:
    (sentence,) = said_of(template)
    assert said in sentence
    assert sentence.endswith("leave it out")


def test_an_executors_image_is_refused_and_its_account_is_not() -> None:
    (sentence,) = said_of(inside(image="mine"), EXECUTOR)
    assert sentence.startswith("spec.containers: image of the executor's container")
    assert said_of({"spec": {"serviceAccountName": "s3-reader"}}, EXECUTOR) == []


@pytest.mark.parametrize("given", ["2m", -1, 1.5, True])
def test_the_grace_is_seconds(given: object) -> None:
    """The operator works with it, before any pod is tried."""
    (sentence,) = said_of({"spec": {"terminationGracePeriodSeconds": given}})
    assert sentence.startswith("spec.terminationGracePeriodSeconds: ")
    assert said_of({"spec": {"terminationGracePeriodSeconds": 0}}) == []


HADOOP_ENV = inside(env=[{"name": "HADOOP_CONF_DIR", "value": "/opt/hadoop"}])
SPARK_MOUNT = inside(volumeMounts=[{"name": "mine", "mountPath": "/etc/spark/conf/"}])


@pytest.mark.parametrize(
    ("field", "role", "template", "said"),
    [
        (
            "hadoopConfigMap",
            "driver",
            HADOOP_ENV,
            "driver.podTemplate.spec.containers: env of the driver's container: 'HADOOP_CONF_DIR' given",
        ),
        (
            "hadoopConfigMap",
            "executor",
            HADOOP_ENV,
            "executor.podTemplate.spec.containers: env of the executor's container: 'HADOOP_CONF_DIR' given",
        ),
        (
            "sparkConfigMap",
            "driver",
            SPARK_MOUNT,
            "driver.podTemplate.spec.containers: volumeMounts of the driver's container: '/etc/spark/conf/' given",
        ),
    ],
)
def test_a_folder_that_a_config_map_would_replace_is_refused(
    field: str, role: str, template: dict[str, Any], said: str
) -> None:
    given = {"mainFile": "a.py", role: {"podTemplate": template}}
    Application.model_validate(given)  # without the ConfigMap it is the user's own affair
    with pytest.raises(ValidationError, match=re.escape(said)) as refused:
        Application.model_validate(given | {field: "conf"})
    assert f"application.{field} mounts its files" in str(refused.value)


def test_executors_get_no_spark_folder_so_theirs_is_their_own() -> None:
    Application.model_validate({"mainFile": "a.py", "sparkConfigMap": "conf", "executor": {"podTemplate": SPARK_MOUNT}})


@pytest.mark.parametrize(
    ("template", "said"),
    [
        ({"metadata": "x"}, "metadata: 'x' given; a map of fields is needed"),
        ({"metadata": {"labels": ["a"]}}, "metadata.labels: a list given; a map is needed"),
        ({"spec": ["a"]}, "spec: a list given; a map of fields is needed"),
        ({"spec": {"serviceAccountName": {}}}, None),
        ({"spec": {"serviceAccountName": {"a": 1}}}, "spec.serviceAccountName: a map given; text is needed"),
        ({"spec": {"containers": {"name": "a"}}}, "spec.containers: a map given; a list is needed"),
        ({"spec": {"containers": "ab"}}, "spec.containers: 'ab' given; a list is needed"),
        ({"spec": {"containers": [None]}}, "spec.containers[0]: null given; a map of fields is needed"),
        ({"spec": {"volumes": ["data"]}}, "spec.volumes[0]: 'data' given; a map of fields is needed"),
        ({"spec": {"tolerations": [3]}}, "spec.tolerations[0]: 3 given; a map of fields is needed"),
        (inside(name=["a"]), "spec.containers[0].name: a list given; text or a number is needed"),
        (inside(env="A=b"), "spec.containers[0].env: 'A=b' given; a list is needed"),
        (inside(env=[None]), "spec.containers[0].env[0]: null given; a map of fields is needed"),
        (inside(ports=[{"containerPort": []}]), "spec.containers[0].ports[0].containerPort: a list given"),
    ],
    ids=str,
)
def test_what_no_pod_is_made_of_is_told(template: dict[str, Any], said: str | None) -> None:
    for role in (DRIVER, EXECUTOR):
        found = said_of(template, role)
        assert (found == []) if said is None else any(one.startswith(said) for one in found), found
