"""What is made for a job: the driver's pod, its executors' template, and what stands around them."""

from __future__ import annotations

import itertools
import json
from typing import Any

import pytest
from driver_jobs import job_facts
from pydantic import ValidationError

from streamjob_operator.kube.api import rights
from streamjob_operator.kube.driver import JobFacts, support
from streamjob_operator.kube.driver.monitoring import Monitor, Monitoring, monitor
from streamjob_operator.kube.driver.naming import child_name, driver_labels
from streamjob_operator.kube.driver.pod import application_hash, driver_manifest, executor_template, mistakes, trials


def driver(**application: Any) -> dict[str, Any]:
    return driver_manifest(job_facts(application))


def monitored(job: JobFacts, monitoring: Monitoring | None = None) -> dict[str, Any]:
    """The monitor that the operator makes for it."""
    found = monitor(job.owner, monitoring or job.monitoring, job.spec.balancing.statistics_period_s)
    assert found is not None
    return found[1]


def container(pod: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = pod["spec"]["containers"][0]
    return found


def environment(pod: dict[str, Any]) -> dict[str, str | None]:
    return {one["name"]: one.get("value") for one in container(pod)["env"]}


def test_the_script_is_started_by_the_agents_runner_unchanged() -> None:
    main = container(driver())
    assert main["command"] == ["python3", "-m", "streamjob_agent", "run"]
    assert main["args"] == ["/opt/app/job.py", "--topic", "orders"]
    assert main["image"] == "registry.example/orders:1"


def test_the_agent_is_told_its_map_its_port_and_its_time_to_stop() -> None:
    pod = driver(driver={"podTemplate": {"spec": {"terminationGracePeriodSeconds": 60}}}, checkpoint="s3a://b/c")
    found = environment(pod)
    assert found["STREAMJOB_AGENT_PARTITION_MAP"] == "streams/orders"
    assert found["STREAMJOB_AGENT_STOP_GRACE_S"] == "45"
    assert found["STREAMJOB_CHECKPOINT"] == "s3a://b/c"
    ports = {one["name"]: one["containerPort"] for one in container(pod)["ports"]}
    assert found["STREAMJOB_AGENT_PORT"] == str(ports["streamjob-agent"])
    assert pod["spec"]["terminationGracePeriodSeconds"] == 60


def test_the_pods_address_is_known_before_it_is_used() -> None:
    template = {"spec": {"containers": [{"env": [{"name": "THEIRS", "value": "x"}]}]}}
    for pod in (driver(), driver(driver={"podTemplate": template})):
        names = [one["name"] for one in container(pod)["env"]]
        arguments = environment(pod)["PYSPARK_SUBMIT_ARGS"]
        assert arguments is not None
        assert "--conf spark.driver.bindAddress=$(STREAMJOB_POD_IP)" in arguments
        assert names.index("STREAMJOB_POD_IP") < names.index("PYSPARK_SUBMIT_ARGS")
        assert len(names) == len(set(names))


def test_pods_are_restricted_unless_the_user_says_otherwise() -> None:
    for pod in (driver(), executor_template(job_facts())):
        assert pod["spec"]["securityContext"] == {"runAsNonRoot": True, "seccompProfile": {"type": "RuntimeDefault"}}
        assert container(pod)["securityContext"] == {
            "allowPrivilegeEscalation": False,
            "capabilities": {"drop": ["ALL"]},
        }
    own = {"spec": {"securityContext": {"runAsNonRoot": False, "fsGroup": 7}}}
    loose = driver(driver={"podTemplate": own})["spec"]["securityContext"]
    assert loose == {"runAsNonRoot": False, "seccompProfile": {"type": "RuntimeDefault"}, "fsGroup": 7}


NODE_GONE = [
    {"key": f"node.kubernetes.io/{what}", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 30}
    for what in ("not-ready", "unreachable")
]


@pytest.mark.parametrize(
    ("theirs", "expected"),
    [
        ([], NODE_GONE),
        ([{"key": "spot", "operator": "Exists"}], [{"key": "spot", "operator": "Exists"}, *NODE_GONE]),
        (
            [{"key": "node.kubernetes.io/unreachable", "operator": "Exists", "tolerationSeconds": 900}],
            [
                {"key": "node.kubernetes.io/unreachable", "operator": "Exists", "tolerationSeconds": 900},
                NODE_GONE[0],
            ],
        ),
        ([{"operator": "Exists"}], [{"operator": "Exists"}]),
    ],
    ids=["none", "of something else", "of a node that is gone", "of everything"],
)
def test_executors_leave_a_node_that_is_gone_soon_unless_the_user_says_otherwise(
    theirs: list[dict[str, Any]], expected: list[dict[str, Any]]
) -> None:
    """Kubernetes' own default is five minutes, in which a job would have to do with what is left."""
    found = executor_template(job_facts({"executor": {"podTemplate": {"spec": {"tolerations": theirs}}}}))
    assert found["spec"]["tolerations"] == expected
    assert "tolerations" not in driver()["spec"]


def test_executors_have_no_token() -> None:
    assert executor_template(job_facts())["spec"]["automountServiceAccountToken"] is False


def test_templates_are_merged_into_both_kinds_of_pods() -> None:
    template = {
        "metadata": {"labels": {"team": "a"}},
        "spec": {"nodeSelector": {"disk": "ssd"}, "containers": [{"name": "x"}, {"name": "log", "image": "log:1"}]},
    }
    pods = (
        driver(driver={"podTemplate": template}),
        executor_template(job_facts({"executor": {"podTemplate": template}})),
    )
    for pod, name in zip(pods, ("driver", "executor"), strict=True):
        assert pod["metadata"]["labels"]["team"] == "a"
        assert pod["metadata"]["labels"]["streamjob.dev/job"] == "orders"
        assert pod["spec"]["nodeSelector"] == {"disk": "ssd"}
        assert [one["name"] for one in pod["spec"]["containers"]] == [name, "log"]


def test_an_account_of_the_users_is_used_and_gets_the_rights() -> None:
    """For a cloud's identities: the account is annotated, and its pods get the bucket's keys."""
    job = job_facts({"driver": {"podTemplate": {"spec": {"serviceAccountName": "s3-writer"}}}})
    assert driver_manifest(job)["spec"]["serviceAccountName"] == "s3-writer"
    assert [one["name"] for one in support.role_binding(job)["subjects"]] == ["s3-writer"]
    assert "ServiceAccount" not in [kind.kind for kind, _ in support.manifests(job)]
    assert driver()["spec"]["serviceAccountName"] == "orders-driver"
    assert "ServiceAccount" in [kind.kind for kind, _ in support.manifests(job_facts())]


def test_scratch_space_may_be_a_volume_of_the_users() -> None:
    own = {"name": "streamjob-scratch", "ephemeral": {"volumeClaimTemplate": {}}}
    pod = driver(driver={"podTemplate": {"spec": {"volumes": [own]}}})
    assert [one for one in pod["spec"]["volumes"] if one["name"] == "streamjob-scratch"] == [own]


def test_pods_are_tried_under_names_of_their_own_and_otherwise_as_they_will_be() -> None:
    (_, tried), (_, executor) = trials(job_facts())
    assert tried["spec"] == driver()["spec"]
    assert {tried["metadata"]["name"], executor["metadata"]["name"]} == {"orders-driver-trial", "orders-executor-trial"}
    assert container(executor)["image"] == "registry.example/orders:1"
    assert "image" not in container(executor_template(job_facts()))


@pytest.mark.parametrize(
    ("executor", "conf", "size"),
    [
        ({}, {}, ("1", None, "1434Mi")),
        ({"memory": "4g", "cores": 2}, {}, ("2", None, "5735Mi")),
        ({"memory": "512m"}, {}, ("1", None, "896Mi")),
        (
            {},
            {"spark.executor.memoryOverhead": "1G", "spark.kubernetes.executor.limit.cores": "2"},
            ("1", "2", "2048Mi"),
        ),
        (
            {},
            {"spark.kubernetes.executor.request.cores": "500m", "spark.executor.memoryOverheadFactor": "0.5"},
            ("500m", None, "1536Mi"),
        ),
        ({}, {"spark.memory.offHeap.enabled": "true", "spark.memory.offHeap.size": "1048576"}, ("1", None, "1435Mi")),
        ({}, {"spark.executor.pyspark.memory": "100", "spark.executor.minMemoryOverhead": "1g"}, ("1", None, "2148Mi")),
    ],
)
def test_an_executor_is_tried_with_the_size_that_spark_gives_it(
    executor: dict[str, Any], conf: dict[str, str], size: tuple[str, str | None, str]
) -> None:
    given = container(trials(job_facts({"executor": executor, "sparkConf": conf}))[1][1])["resources"]
    assert given["requests"]["memory"] == given["limits"]["memory"]
    told = (given["requests"]["cpu"], given["limits"].get("cpu"), given["limits"]["memory"])
    assert told == size


def test_sizes_of_an_executors_template_give_way_to_sparks_and_others_stay() -> None:
    theirs = {"requests": {"memory": "1Mi", "ephemeral-storage": "1Gi"}, "limits": {"example.com/gpu": "1"}}
    template = {"spec": {"containers": [{"name": "executor", "resources": theirs}]}}
    given = container(trials(job_facts({"executor": {"podTemplate": template}}))[1][1])["resources"]
    assert given == {
        "requests": {"memory": "1434Mi", "ephemeral-storage": "1Gi", "cpu": "1"},
        "limits": {"memory": "1434Mi", "example.com/gpu": "1"},
    }


@pytest.mark.parametrize("name", ["memoryOverhead", "memoryOverheadFactor", "minMemoryOverhead", "pyspark.memory"])
def test_a_size_that_spark_cannot_read_is_sparks_to_refuse(name: str) -> None:
    job = job_facts({"sparkConf": {f"spark.executor.{name}": "much"}})
    assert container(trials(job)[1][1])["resources"] == {}


def test_resources_of_a_template_replace_ours() -> None:
    own = {"spec": {"containers": [{"resources": {"limits": {"memory": "9Gi"}}}]}}
    found = container(driver(driver={"memory": "2g", "podTemplate": own}))["resources"]
    assert found == {"requests": {"cpu": "1", "memory": "2868Mi"}, "limits": {"memory": "9Gi"}}


def test_everything_goes_with_the_job() -> None:
    made = [manifest for _, manifest in support.manifests(job_facts())]
    for manifest in [*made, monitored(job_facts()), driver()]:
        owners = manifest["metadata"]["ownerReferences"]
        assert [(one["kind"], one["name"], one["uid"]) for one in owners] == [("StreamJob", "orders", "uid-1")]
        assert manifest["metadata"]["namespace"] == "streams"
        assert manifest["metadata"]["labels"]["streamjob.dev/job"] == "orders"


def test_the_account_may_touch_one_map_alone() -> None:
    rules = support.role(job_facts())["rules"]
    ours = [rule for rule in rules if rule["apiGroups"] == ["streamjob.dev"]]
    assert [(rule["resources"], rule["verbs"], rule["resourceNames"]) for rule in ours] == [
        (["partitionmaps"], ["get", "watch"], ["orders"]),
        (["partitionmaps/status"], ["patch"], ["orders"]),
    ]
    others = {resource for rule in rules if rule not in ours for resource in rule["resources"]}
    assert others == {"pods", "configmaps", "services", "persistentvolumeclaims"}


def test_the_operator_may_hand_on_what_the_role_has_and_asks_for_no_more_on_sparks_kinds() -> None:
    """Kubernetes refuses a role with a right that its maker lacks."""
    held = {(one.kind.group, one.resource): set(one.verbs) for one in rights.WHERE_JOBS_ARE}
    for rule in support.role(job_facts())["rules"]:
        (group,) = rule["apiGroups"]
        for resource in rule["resources"]:
            assert set(rule["verbs"]) <= held[group, resource], resource
            if group == "":
                assert set(rule["verbs"]) == held[group, resource], resource


def test_the_service_and_the_monitor_find_the_driver_and_no_executor() -> None:
    job = job_facts({"sparkConf": {"spark.driver.port": "5000"}})
    service = support.service(job)
    labels = driver_manifest(job)["metadata"]["labels"]
    assert service["spec"]["selector"].items() <= labels.items()
    assert monitored(job)["spec"]["selector"]["matchLabels"] == driver_labels("orders")
    assert {one["name"]: one["port"] for one in service["spec"]["ports"]}["driver"] == 5000


@pytest.mark.parametrize(("period", "interval"), [("5m", "15s"), ("20s", "5s"), ("1s", "1s")])
def test_a_short_statistics_period_is_scraped_more_often(period: str, interval: str) -> None:
    job = job_facts(spec={"balancing": {"statisticsPeriod": period}})
    assert monitored(job)["spec"]["podMetricsEndpoints"][0]["interval"] == interval


def test_a_monitor_has_the_labels_by_which_a_prometheus_finds_it() -> None:
    labels = (("release", "kube-prometheus-stack"), ("streamjob.dev/job", "another"))
    for kind in (Monitor.POD_MONITOR, Monitor.SERVICE_MONITOR):
        found = monitored(job_facts(), Monitoring(monitor=kind, labels=labels))["metadata"]["labels"]
        assert (found["release"], found["streamjob.dev/job"]) == ("kube-prometheus-stack", "orders")


def test_a_service_monitor_finds_the_drivers_service() -> None:
    job = job_facts()
    spec = monitored(job, Monitoring(monitor=Monitor.SERVICE_MONITOR))["spec"]
    service = support.service(job)
    assert spec["selector"]["matchLabels"].items() <= service["metadata"]["labels"].items()
    assert spec["endpoints"][0]["port"] in {one["name"] for one in service["spec"]["ports"]}


def test_annotations_are_on_the_pod_alone_where_they_are_asked_for() -> None:
    assert "prometheus.io/scrape" not in driver()["metadata"]["annotations"]
    by_annotations = Monitoring(monitor=Monitor.ANNOTATIONS)
    job = job_facts(monitoring=by_annotations)
    assert driver_manifest(job)["metadata"]["annotations"]["prometheus.io/port"] == "7980"
    assert monitor(job.owner, by_annotations, 60.0) is None
    assert application_hash(job) == application_hash(job_facts())  # no driver is started anew for it


def test_the_settings_are_files_that_the_pod_mounts() -> None:
    job = job_facts({"executor": {"podTemplate": {"spec": {"priorityClassName": "high"}}}})
    data = support.config_map(job)["data"]
    mounts = {one["mountPath"] for one in container(driver_manifest(job))["volumeMounts"]}
    assert "spark.kubernetes.executor.podTemplateFile=/etc/streamjob/executor.yaml\n" in data["spark.conf"]
    assert "/etc/streamjob" in mounts
    assert json.loads(data["executor.yaml"])["spec"]["priorityClassName"] == "high"


def test_the_hash_follows_the_application_and_nothing_else() -> None:
    job = job_facts()
    same = [
        job_facts(spec={"executors": {"min": 3, "max": 9}}, executors=5, generation=4),
        job_facts({"restart": {"policy": "Never"}}),
        job_facts({"driver": {"cores": 1}}),  # the default, written out
    ]
    other = [job_facts({"args": []}), job_facts({"sparkConf": {"a": "b"}}), job_facts({"image": "x:2"})]
    assert {application_hash(one) for one in same} == {application_hash(job)}
    assert len({application_hash(one) for one in [job, *other]}) == 4


def test_what_no_driver_can_be_made_from_gets_a_sentence() -> None:
    (found,) = mistakes(job_facts({"image": None}))
    assert found.startswith("application.image: nothing given")
    assert mistakes(job_facts({"mainFile": "/opt/app/job.py"})) == ()


def test_names_stay_within_what_kubernetes_takes() -> None:
    long = "a" * 63
    names = {child_name(long, "driver"), child_name("a" * 62 + "b", "driver")}
    assert len(names) == 2
    assert all(len(name) <= 63 and name.endswith("-driver") for name in names)
    assert child_name("orders", "driver") == "orders-driver"


def test_dependencies_reach_spark_and_python_files_the_runner() -> None:
    deps = {
        "pyFiles": ["local:///opt/app/lib.zip", "s3a://code/more.py"],
        "jars": ["local:///opt/a.jar", "https://jars.example/b.jar"],
        "packages": ["org.apache.spark:spark-sql-kafka-0-10_2.13:4.0.1"],
        "excludePackages": ["org.slf4j:slf4j-api"],
        "repositories": ["https://maven.example/repo"],
        "files": ["s3a://code/names.csv"],
        "archives": ["s3a://code/model.tar.gz#model"],
    }
    job = job_facts({"mainFile": "s3a://code/job.py", "deps": deps})
    start = ["--py-files", "local:///opt/app/lib.zip,s3a://code/more.py", "s3a://code/job.py"]
    assert container(driver_manifest(job))["args"] == [*start, "--topic", "orders"]
    text = support.config_map(job)["data"]["spark.conf"]
    for line in (
        "spark.jars=local:///opt/a.jar,https://jars.example/b.jar",
        "spark.jars.packages=org.apache.spark:spark-sql-kafka-0-10_2.13:4.0.1",
        "spark.jars.excludes=org.slf4j:slf4j-api",
        "spark.jars.repositories=https://maven.example/repo",
        "spark.files=s3a://code/names.csv",
        "spark.archives=s3a://code/model.tar.gz#model",
        "spark.jars.ivy=/var/data/streamjob/ivy",
    ):
        assert f"{line}\n" in text
    plain = support.config_map(job_facts())["data"]["spark.conf"]
    assert "spark.jars" not in plain
    assert container(driver())["args"][0] == "/opt/app/job.py"


def test_each_pod_may_have_an_image_of_its_own() -> None:
    job = job_facts({"driver": {"image": "d:1"}, "executor": {"image": "e:1"}})
    assert container(driver_manifest(job))["image"] == "d:1"
    assert "spark.kubernetes.container.image=e:1\n" in support.config_map(job)["data"]["spark.conf"]
    (_, first), (_, second) = trials(job)
    assert [container(one)["image"] for one in (first, second)] == ["d:1", "e:1"]
    only_driver = job_facts({"driver": {"image": "d:1"}})
    assert container(trials(only_driver)[1][1])["image"] == "registry.example/orders:1"


def test_config_maps_of_hadoop_and_spark_are_folders_with_a_name() -> None:
    mine = {"podTemplate": {"spec": {"volumes": [{"name": "x", "emptyDir": {}}], "containers": [{"name": "executor"}]}}}
    job = job_facts({"hadoopConfigMap": "hadoop", "sparkConfigMap": "logging", "executor": mine})
    pod, executor = driver_manifest(job), executor_template(job)
    assert environment(pod)["HADOOP_CONF_DIR"] == "/etc/hadoop/conf"
    assert environment(pod)["SPARK_CONF_DIR"] == "/etc/spark/conf"
    assert environment(executor) == {"HADOOP_CONF_DIR": "/etc/hadoop/conf"}
    for one, whose in ((pod, ["hadoop", "logging"]), (executor, ["hadoop"])):
        maps = {v["name"]: v["configMap"]["name"] for v in one["spec"]["volumes"] if "configMap" in v}
        mounted = {m["name"]: m["mountPath"] for m in container(one)["volumeMounts"]}
        assert [maps[name] for name in mounted if name.endswith("-conf")] == whose
    assert executor["spec"]["volumes"][0] == {"name": "x", "emptyDir": {}}
    assert "volumes" not in executor_template(job_facts())["spec"]


def test_labels_of_a_scheduler_that_waits_for_all_pods_reach_driver_and_executors() -> None:
    ours = {"metadata": {"labels": {"kueue.x-k8s.io/queue-name": "streams"}, "annotations": {"group": "orders"}}}
    ours |= {"spec": {"schedulerName": "volcano"}}
    job = job_facts({"driver": {"podTemplate": ours}, "executor": {"podTemplate": ours}})
    for pod in (driver_manifest(job), executor_template(job)):
        assert pod["metadata"]["labels"]["kueue.x-k8s.io/queue-name"] == "streams"
        assert pod["metadata"]["annotations"]["group"] == "orders"
        assert pod["spec"]["schedulerName"] == "volcano"


def test_null_in_a_template_is_nothing() -> None:
    """Templates that programs write have nulls, and Kubernetes reads none of them as a value."""
    nulls: dict[str, Any] = {"terminationGracePeriodSeconds": None, "volumes": None, "containers": [{"env": None}]}
    assert driver(driver={"podTemplate": {"metadata": None, "spec": nulls}})["spec"] == driver()["spec"]


ODD: list[Any] = [None, 0, "x", [], {}, [None], ["x"], [{}], [{"name": None}], [{"name": ["a"]}], {"a": 1}, [[]], True]
PLACES = [
    *((name,) for name in ("metadata", "spec")),
    *(("metadata", name) for name in ("labels", "annotations")),
    *(("spec", name) for name in ("containers", "initContainers", "volumes", "imagePullSecrets", "tolerations")),
    *(("spec", name) for name in ("serviceAccountName", "terminationGracePeriodSeconds", "securityContext")),
    *(
        ("spec", "containers", name)
        for name in ("env", "volumeMounts", "ports", "resources", "name", "securityContext")
    ),
]


@pytest.mark.parametrize("role", ["driver", "executor"])
def test_whatever_a_template_holds_is_a_pod_or_a_sentence(role: str) -> None:
    """Never a mistake of the operator's own, which would be told anew in each turn."""
    for place, odd in itertools.product(PLACES, ODD):
        template: Any = odd
        for name in reversed(place):
            template = {name: [template] if name == "containers" and place[-1] != name else template}
        try:
            facts = job_facts({role: {"podTemplate": template}, "hadoopConfigMap": "hadoop"})
        except ValidationError:
            continue
        assert json.dumps(driver_manifest(facts)), template
        assert json.dumps(trials(facts)), template
