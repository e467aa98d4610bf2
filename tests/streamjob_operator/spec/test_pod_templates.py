"""What StreamJob or Spark decides is refused in a pod template, and nothing else is."""

from __future__ import annotations

import re
from typing import Any

import pytest
from pydantic import ValidationError

from streamjob_operator.spec import Application
from streamjob_operator.spec.pod_templates import driver_template_mistakes, executor_template_mistakes

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


def test_the_users_own_is_no_mistake() -> None:
    assert list(driver_template_mistakes(THEIRS)) == []
    assert list(driver_template_mistakes({})) == []


def inside(**container: Any) -> dict[str, Any]:
    return {"spec": {"containers": [container]}}


@pytest.mark.parametrize(
    ("template", "said"),
    [
        (inside(image="mine"), "image of the driver's: application.driver.image says it"),
        (inside(name="driver", command=["sh"]), "command of the driver's: the agent starts the script"),
        (inside(args=["x"]), "application.args"),
        (inside(readinessProbe={}), "readinessProbe"),
        (inside(env=[{"name": "PYSPARK_SUBMIT_ARGS"}]), "env PYSPARK_SUBMIT_ARGS"),
        (inside(env=[{"name": "STREAMJOB_AGENT_PORT"}]), "env STREAMJOB_AGENT_PORT"),
        ({"spec": {"restartPolicy": "Always"}}, "application.restart says when"),
        ({"spec": {"automountServiceAccountToken": False}}, "needs its token"),
        ({"metadata": {"name": "x"}}, "metadata.name"),
        ({"metadata": {"namespace": "x"}}, "metadata.namespace"),
        ({"metadata": {"labels": {"spark-role": "executor"}}}, "metadata.labels, spark-role"),
        ({"spec": {"volumes": [{"name": "streamjob-settings"}]}}, "spec.volumes, streamjob-settings: it is made by"),
        (inside(volumeMounts=[{"mountPath": "/etc/streamjob/"}]), "volumeMounts at /etc/streamjob: Spark's settings"),
    ],
)
def test_what_would_be_overridden_is_refused(template: dict[str, Any], said: str) -> None:
    (sentence,) = driver_template_mistakes(template)
    assert said in sentence
    assert sentence.endswith("leave it out")


def test_an_executors_image_is_refused_and_its_account_is_not() -> None:
    (sentence,) = executor_template_mistakes(inside(image="mine"))
    assert sentence.startswith("executor.podTemplate, spec.containers, image of the executor's")
    assert list(executor_template_mistakes({"spec": {"serviceAccountName": "s3-reader"}})) == []


@pytest.mark.parametrize("broken", [{"spec": 3}, {"metadata": []}, inside(env="x"), {"spec": {"containers": {}}}])
def test_a_template_of_another_shape_is_for_the_api_server_to_refuse(broken: dict[str, Any]) -> None:
    assert list(driver_template_mistakes(broken)) == []


HADOOP_ENV = inside(env=[{"name": "HADOOP_CONF_DIR", "value": "/opt/hadoop"}])
SPARK_MOUNT = inside(volumeMounts=[{"name": "mine", "mountPath": "/etc/spark/conf/"}])


@pytest.mark.parametrize(
    ("field", "role", "template", "said"),
    [
        ("hadoopConfigMap", "driver", HADOOP_ENV, "driver.podTemplate, spec.containers, env HADOOP_CONF_DIR: "),
        ("hadoopConfigMap", "executor", HADOOP_ENV, "executor.podTemplate, spec.containers, env HADOOP_CONF_DIR: "),
        (
            "sparkConfigMap",
            "driver",
            SPARK_MOUNT,
            "driver.podTemplate, spec.containers, volumeMounts at /etc/spark/conf: ",
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
