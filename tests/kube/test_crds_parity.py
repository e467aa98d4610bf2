"""One file, two bodies: what `streamjob validate` takes the API server takes, and what it refuses is refused.

But for null: the API server drops a null and fills in the default.
"""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest
from kubernetes import client, config

from streamjob_operator.spec import SpecError, parse_job

VALID: dict[str, Any] = {
    "apiVersion": "streamjob.dev/v1alpha1",
    "kind": "StreamJob",
    "metadata": {"name": "a"},
    "spec": {
        "application": {"image": "registry.example/job:1", "mainFile": "job.py"},
        "executors": {"min": 1, "max": 4},
        "scaling": {"windows": [{"cron": "0 8 * * *", "duration": "1h", "deny": ["Move"]}]},
        "metrics": {"prometheus": {"url": "http://prometheus:9090"}},
    },
}
WHITE = [*filter(str.isspace, map(chr, range(0x3001))), "\u200b", "\ufeff"]
"""All that Python takes for white space, and two that look like it."""
BAD_REQUEST, UNPROCESSABLE = 400, 422
WINDOW = "scaling.windows.0"
CASES: dict[str, list[Any]] = {
    "balancing.statisticsPeriod": [
        *("1s", "999ms", "0.5s", "1h30m", "90s90s", "1d", "23h60m", "1d1ms", "86400s", "86401s", "1.5m", "5", "s", ""),
        *("5 m", "1e3s", "1.5.2s", "+5m", "5M", "5m ", "\n5m", 300, ["5m"], "1" * 40 + "ms"),
    ],
    "balancing.migrationBudget.maxCost": ["1ms", "0s", "0ms", "60m", "61m", None],
    "balancing.migrationBudget.maxStateBytes": [
        *("500M", "2Gi", 2048, 1, 0, -1, "0", "0.4", "0.5k", "0.0001k", "1.5Gi", "2GB", "2gi", "Gi", "", "1P"),
        *(True, 1.5),
    ],
    "balancing.migrationBudget.maxMigrations": [1, 0, 1_000_000, 1_000_001, "1", 1.5],
    "balancing.maxLoadDistance": [0, 0.001, 1000, 1001, "10"],
    "balancing.collocation.scoreFactor": [1, 0.99, 100, 101],
    "scaling.targetUtilization": [9.9, 10, 95, 95.1],
    f"{WINDOW}.cron": [
        *("*/5 * * * *", "0-30/5 1,2,3 * jan-mar MON-fri", "0 8 * * 7", "0 8 * * 8", "60 * * * *", "0 24 * * *"),
        *("0 0 0 * *", "0 0 31 12 *", "0 0 32 * *", "0 0 * 13 *", "@daily", "0 8 * *", "0 8 * * * *", "a b c d e", ""),
        *("0  8 * * *", "*/0 * * * *", "0 8 * * 1-", "0 0 l * *"),
    ],
    f"{WINDOW}.timezone": [
        *("UTC", "Europe/Berlin", "America/Argentina/Buenos_Aires", "Etc/GMT+5", "", "Europe Berlin", "/"),
    ],
    f"{WINDOW}.duration": ["60s", "59s", "7d", "7d1s"],
    f"{WINDOW}.deny": [["ScaleUp", "Move"], [], ["scaleup"], "Move", None],
    "application.executor.memory": ["512m", "4g", "1t", "4Gi", "4G", "0g", "00m", "010m", "g", "-1g", "1.5g", "", 4],
    "application.mainFile": [
        *("job.py", "/opt/a b.py", "local:///opt/job.py", "s3a://b/job.py", "https://h/job.py", "S3A://b/job.py"),
        *("s3:/b/job.py", "://x", "s3a://", "s3a://b/a,b.py", "local:///opt/app.jar", "app.JAR", "job.R", "job.rb", ""),
        *("x" * 2000, "x" * 2001, 1),
        *(f"s3a://b/a{one}b.py" for one in WHITE),
    ],
    "application.deps.pyFiles": [
        *(["a.py", "s3a://b/c.zip"], ["a.py,b.py"], ["a b.py"], [""], "a.py", ["x"] * 101),
        *([f"a{one}.py"] for one in WHITE),
    ],
    "application.deps.packages": [["a:b:1"], ["a:b"], ["a:b:1:c"], ["a:b:1,c:d:2"], ["a:b:1", "a"], []],
    "application.deps.excludePackages": [["a:b"], ["a:b:1"], ["a"]],
    "application.hadoopConfigMap": ["hadoop", "hadoop.conf-1", "Hadoop", "-a", "a-", "a_b", "", "a" * 253, "a" * 254],
    "application.driver.image": ["a:1", ""],
    "application.restart.maxRestarts": [0, 1_000_000, 1_000_001, -1, 1.5, "1", None],
    "application.restart.startDeadline": ["1s", "999ms", "1d", "25h", "5", None],
    "application": [
        {**VALID["spec"]["application"], "deps": {"jars": ["a.jar"]}, "sparkConf": {"spark.jars": "b.jar"}},
        {**VALID["spec"]["application"], "deps": {"packages": ["a:b:1"]}, "sparkConf": {"spark.jars": "b.jar"}},
        {**VALID["spec"]["application"], "deps": {}, "sparkConf": {"spark.jars": "b.jar"}},
        {**VALID["spec"]["application"], "sparkConf": {"spark.submit.pyFiles": "b.py"}},
        *(
            {**VALID["spec"]["application"], "mainFile": file, **more}
            for file in ("job.py", "local:///opt/app.jar", "s3a://b/app.JAR")
            for more in (
                *({}, {"mainClass": "a.b.C$D"}, {"mainClass": "a..b"}, {"mainClass": ""}, {"mainClass": "x" * 501}),
                *({"mainClass": "C", "deps": {"pyFiles": ["a.py"]}}, {"mainClass": "C", "deps": {"pyFiles": []}}),
            )
        ),
    ],
    "application.executor.cores": [1, 256, 0, 257, "1"],
    "application.sparkConf": [
        {"spark.speculation": "false"},
        {"spark.speculation": "FALSE"},
        {"spark.speculation": "true"},
        {"spark.speculation": ""},
        {"spark.storage.decommission.enabled": "yes"},
        *({"spark.driver.port": port} for port in ("7078", "0", "65536", "007078", "00080", "٧٠٧٨", "")),
        {"spark.driver.blockManager.port": "65535"},
        {"a": 1},
    ],
    "application.restart.backoff": [
        {"initial": "5m"},
        {"initial": "6m"},
        {"initial": "90s", "max": "1m30s"},
        {"max": "1s"},
    ],
    "metrics.prometheus.url": [
        "https://a.b/c?d",
        "http://a",
        "ftp://a",
        "a:9090",
        "http://",
        "http://a b",
        "",
        *(f"http://a{one}" for one in WHITE),
    ],
    "metrics.prometheus.auth": [
        {"secretRef": {"name": name}}
        for name in (
            "login",
            "a.b-c",
            "../../kube-system/secrets/x",
            "..",
            "x?y",
            "a%2fb",
            "A",
            "",
            "a" * 253,
            "a" * 254,
        )
    ],
    "metrics.prometheus.headers": [
        *({"X-Scope-OrgID": "a"}, {}, {"a b": "x"}, {"X-A": "x\ny"}, {"X-A": ""}, {"Authorization": "x"}),
        *({"X-A": "x" * 1000}, {"X-A": "x" * 1001}, {"": "x"}, {"A" * 101: "x"}),
    ],
    "metrics.staleAfter": ["5m", "299s", "1d", None],
    "metrics.prometheus.tls": [
        {"insecureSkipVerify": True},
        {"insecureSkipVerify": True, "caSecretRef": {"name": "x"}},
    ],
    "executors": [
        {"min": 4, "max": 4},
        {"min": 5, "max": 4},
        {"min": 1, "max": 10_001},
        {"min": 1, "max": 2, "replicas": 9},
    ],
    "applicationRef": [{"name": "x"}],
    "applicationRef.matchLabels": [
        *({"app": "x"}, {"a.b/c_d.e": "A-1_b.c"}, {"app": ""}, {"a" * 63: "b" * 63}, {"a" * 64: "b"}, {"a": "b" * 64}),
        *(
            {"app": "x,y=z"},
            {"app": "x y"},
            {"app": "-x"},
            {"": "x"},
            {"/a": "x"},
            {"a/": "x"},
            {"A/b": "x"},
            {"a b": "x"},
        ),
        *({}, {f"l{i}": "x" for i in range(20)}, {f"l{i}": "x" for i in range(21)}, {"a": 1}),
        *({"p" * 253 + "/" + "n" * 63: "x"}, {"p" * 254 + "/" + "n" * 63: "x"}, {"a!=b": "x"}, {"app": "in (x)"}),
    ],
    "metadata.name": ["a" * 63, "a" * 64, "a.b", "A", "-a", "a-", "0", "a_b"],
}


@pytest.fixture(scope="module")
def api(api_server: Path) -> client.CustomObjectsApi:
    return client.CustomObjectsApi(config.new_client_from_config(str(api_server)))


def changed(path: str, value: Any) -> dict[str, Any]:
    """The valid object with one field replaced."""
    document = copy.deepcopy(VALID)
    if path.startswith("applicationRef."):
        del document["spec"]["application"]
    place: Any = document if path.startswith("metadata.name") else document["spec"]
    *parents, name = path.split(".")
    for parent in parents:
        place = place[int(parent)] if parent.isdigit() else place.setdefault(parent, {})
    place[name] = value
    return document


def server_takes(api: client.CustomObjectsApi, document: dict[str, Any]) -> bool:
    place = {"group": "streamjob.dev", "version": "v1alpha1", "namespace": "default", "plural": "streamjobs"}
    try:
        api.create_namespaced_custom_object(**place, body=document, dry_run="All", field_validation="Strict")
    except client.ApiException as refused:
        if refused.status in (BAD_REQUEST, UNPROCESSABLE):
            return False
        raise
    return True


def reader_takes(document: dict[str, Any]) -> bool:
    try:
        parse_job(json.dumps(document))
    except SpecError:
        return False
    return True


def test_the_object_that_is_changed_is_valid(api: client.CustomObjectsApi) -> None:
    assert server_takes(api, VALID)
    assert reader_takes(VALID)


@pytest.mark.parametrize("path", CASES)
def test_both_give_the_same_answer(api: client.CustomObjectsApi, path: str) -> None:
    documents = [(value, changed(path, value)) for value in CASES[path]]
    answers = [(value, reader_takes(document), server_takes(api, document)) for value, document in documents]
    differ = [f"{value!r}: reader {reader}, server {server}" for value, reader, server in answers if reader != server]
    assert differ == []
