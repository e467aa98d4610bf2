"""SparkApplications as people write them: what comes out is valid, says the same, and nothing is left out unsaid."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner

from streamjob_cli.main import main
from streamjob_operator.importing.reading import Imported, imported
from streamjob_operator.spec import SpecError, parse_job

DATA = Path(__file__).parents[2] / "data" / "sparkapplications"
NAMES = sorted(path.stem for path in DATA.glob("*.yaml"))
NO_WAY = "kubeflow-r"


def one(name: str) -> Imported:
    return imported((DATA / f"{name}.yaml").read_text(encoding="utf-8"))


def job(name: str) -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load(one(name).text)
    return found


def application(name: str) -> dict[str, Any]:
    found: dict[str, Any] = job(name)["spec"]["application"]
    return found


@pytest.mark.parametrize("name", [name for name in NAMES if name != NO_WAY])
def test_what_comes_out_is_valid_and_has_its_notes_as_comments(name: str) -> None:
    result = one(name)
    assert result.mistakes == ()
    parse_job(result.text)
    assert [line[2:] for line in result.text.splitlines() if line.startswith("# ")] == list(result.notes)


def leaves(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        for inner in value.values():
            yield from leaves(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from leaves(inner)
    else:
        yield str(value).lower()


@pytest.mark.parametrize("name", [name for name in NAMES if name.startswith("kubeflow")])
def test_nothing_is_left_out_unsaid(name: str) -> None:
    source = yaml.safe_load((DATA / f"{name}.yaml").read_text(encoding="utf-8"))["spec"]
    result = one(name)
    told = {path.split(".")[0] for note in result.notes for path in note.split(":")[0].split(", ")}
    written = result.text.lower()
    unsaid = {
        field: leaf
        for field, value in source.items()
        if field not in told and field not in ("type", "mode", "dynamicAllocation", "driver", "executor")
        for leaf in leaves(value)
        if leaf not in written
    }
    assert unsaid == {}


def test_a_kafka_job() -> None:
    found = application("kubeflow-kafka")
    assert found["deps"]["packages"] == ["org.apache.spark:spark-sql-kafka-0-10_2.13:4.0.1"]
    assert found["deps"]["pyFiles"] == ["local:///opt/app/lib.zip"]
    assert found["restart"] == {
        "policy": "OnFailure",
        "maxRestarts": 5,
        "backoff": {"initial": "20s", "max": "300s"},
    }
    settings = found["sparkConf"]
    assert settings["spark.hadoop.fs.s3a.endpoint"] == "https://s3.example"
    assert settings["spark.executor.memoryOverhead"] == "1024"
    assert settings["spark.kubernetes.executor.request.cores"] == "1500m"
    assert settings["spark.driver.extraJavaOptions"] == "-XX:+UseG1GC"
    (main,) = found["driver"]["podTemplate"]["spec"]["containers"]
    assert main["resources"] == {"limits": {"cpu": "1200m", "memory": "2560Mi"}, "requests": {"memory": "2560Mi"}}
    assert found["driver"]["podTemplate"]["spec"]["serviceAccountName"] == "clicks"
    assert found["executor"]["podTemplate"]["metadata"]["labels"] == {"version": "4.0.1"}
    assert job("kubeflow-kafka")["spec"]["executors"] == {"min": 4, "max": 4}
    assert job("kubeflow-kafka")["metadata"] == {"name": "clicks", "namespace": "streams", "labels": {"team": "web"}}


def test_volumes_go_to_the_pods_that_mount_them() -> None:
    found, notes = application("kubeflow-volumes"), one("kubeflow-volumes").notes
    names = {
        role: {volume["name"] for volume in found[role]["podTemplate"]["spec"]["volumes"]}
        for role in ("driver", "executor")
    }
    assert names == {
        "driver": {"state", "spill", "cloud-volume", "ledger-rules-volume"},
        "executor": {"spill"},
    }
    assert "volumes: unused is mounted by no pod, so it was left out." in notes
    assert found["driver"]["image"] == "registry.example/ledger-driver:1"
    assert (found["hadoopConfigMap"], found["sparkConfigMap"]) == ("ledger-hadoop", "ledger-logging")


def test_dynamic_allocation_becomes_bounds_and_what_streamjob_does_itself_is_told() -> None:
    result, found = one("kubeflow-dynamic"), application("kubeflow-dynamic")
    assert job("kubeflow-dynamic")["spec"]["executors"] == {"min": 2, "max": 12}
    assert "sparkConf" not in found
    assert found["executor"]["memory"] == "3g"
    assert found["deps"]["pyFiles"] == ["s3a://code/a.py", "s3a://code/b.zip"]
    assert found["restart"] == {"policy": "Never"}
    assert found["driver"]["podTemplate"]["spec"]["schedulerName"] == "volcano"
    assert found["driver"]["podTemplate"]["spec"]["containers"][0]["resources"]["limits"] == {"nvidia.com/gpu": "1"}
    for path in ("proxyUser", "timeToLiveSeconds", "batchSchedulerOptions.queue", "driverPodDisruptionBudget"):
        assert any(note.startswith(path) for note in result.notes), path
    assert job("kubeflow-dynamic")["metadata"] == {"name": "sessions"}


def test_a_pod_template_keeps_what_fields_do_not_say() -> None:
    found = application("kubeflow-template")
    main, log = found["driver"]["podTemplate"]["spec"]["containers"]
    assert (main["name"], log["name"]) == ("driver", "log")
    assert main["env"] == [{"name": "A", "value": "1"}, {"name": "B", "value": "2"}]
    assert found["driver"]["image"] == "registry.example/trips-driver:1"
    assert found["image"] == "registry.example/trips:1"
    assert "driver template, args of its container: StreamJob or Spark sets it." in one("kubeflow-template").notes


def test_apaches_application() -> None:
    found = application("apache-orders")
    assert (found["mainFile"], found["image"]) == ("local:///opt/app/orders.py", "registry.example/orders:1")
    assert found["deps"] == {
        "pyFiles": ["local:///opt/app/lib.py"],
        "jars": ["local:///opt/jars/a.jar", "local:///opt/jars/b.jar"],
    }
    assert found["restart"] == {
        "policy": "OnFailure",
        "maxRestarts": 4,
        "backoff": {"initial": "15000ms", "max": "300000ms"},
        "startDeadline": "300000ms",
    }
    assert (found["driver"]["memory"], found["executor"]["cores"]) == ("2g", 2)
    assert job("apache-orders")["spec"]["executors"] == {"min": 3, "max": 9}


@pytest.mark.parametrize("name", ["kubeflow-scala", "apache-class"])
def test_a_class_of_a_jar(name: str) -> None:
    found = application(name)
    assert (found["mainClass"], found["mainFile"]) == ("com.example.Totals", "local:///opt/app/totals.jar")
    assert found.get("deps", {}) == ({} if name == "kubeflow-scala" else {"jars": ["local:///opt/app/lib.jar"]})


def test_a_class_beside_a_script_is_left_out_with_a_note() -> None:
    """Spark's runner of scripts is such a class, and Apache's operator names it."""
    text = (DATA / "apache-orders.yaml").read_text(encoding="utf-8")
    result = imported(text.replace("spec:", "spec:\n  mainClass: org.apache.spark.deploy.PythonRunner", 1))
    assert result.mistakes == ()
    assert "mainClass" not in yaml.safe_load(result.text)["spec"]["application"]
    assert any(one.startswith("mainClass: org.apache.spark.deploy.PythonRunner given") for one in result.notes)


def test_the_command_writes_tells_and_ends_with_two_where_there_is_no_way(tmp_path: Path) -> None:
    out = tmp_path / "job.yaml"
    done = CliRunner().invoke(main, ["import", str(DATA / "kubeflow-kafka.yaml"), "-o", str(out)])
    assert (done.exit_code, done.stdout) == (0, "")
    assert out.read_text(encoding="utf-8") == one("kubeflow-kafka").text
    assert "sparkVersion, pythonVersion: not needed" in done.stderr
    done = CliRunner().invoke(main, ["import", str(DATA / f"{NO_WAY}.yaml")])
    assert done.exit_code == 2
    assert "kind: StreamJob" in done.stdout
    assert "a PySpark script is needed, or a jar and mainClass" in done.stderr


KUBEFLOW = "kind: SparkApplication\napiVersion: sparkoperator.k8s.io/v1beta2\n"
BAD = {
    "kind: Pod\napiVersion: v1": "v1 Pod given; a SparkApplication of",
    "kind: SparkApplication\napiVersion: sparkoperator.k8s.io/v1beta1": "sparkoperator.k8s.io/v1beta1 Spark",
    "[1]": "No SparkApplication given",
    "a: [": "This is not YAML",
    "[" * 5000: "This is nested too deeply",
    "at: !!timestamp 2026-13-45": "month must be in 1..12",
    "kind: SparkApplication\n---\nkind: SparkApplication": "2 SparkApplications given",
    "kind: SparkApplication\napiVersion: sparkoperator.k8s.io/v1beta2\nspec: []": "a map of fields is needed",
    f"{KUBEFLOW}spec: {{sparkConf: a}}": "spec.sparkConf: 'a' given, which does not fit its own definition",
    f"{KUBEFLOW}spec: {{image: a, image: b}}": "image: written twice",
    f"{KUBEFLOW}spec: &a {{driver: *a}}": "a part of itself",
    "kind: SparkApplication\napiVersion: sparkoperator.k8s.io/v1beta2\n"
    r'spec: {sparkConf: {spark.speculation: "\ud800"}}': "half of a character",
    "kind: SparkApplication\napiVersion: sparkoperator.k8s.io/v1beta2\nmetadata: a": "does not fit its own",
    "kind: SparkApplication\napiVersion: sparkoperator.k8s.io/v1beta2\nmetadata: {annotations: 1}": "not fit its own",
    "kind: SparkApplication\napiVersion: sparkoperator.k8s.io/v1beta2\n"
    f"spec: {{memoryOverheadFactor: '0.1', driver: {{memory: {'9' * 400}}}}}": "does not fit its own",
}


@pytest.mark.parametrize("text", BAD)
def test_what_is_no_spark_application_gets_a_sentence(text: str) -> None:
    with pytest.raises(SpecError) as refused:
        imported(text)
    assert BAD[text] in str(refused.value)


def test_what_looks_like_a_date_or_a_time_stays_as_it_was_written() -> None:
    text = (DATA / "kubeflow-kafka.yaml").read_text(encoding="utf-8")
    document = text.replace("  arguments: [", "  arguments: [12:30, 2026-01-31, ")
    assert document != text
    found = parse_job(imported(document).text).spec.application
    assert found is not None
    assert found.args[:2] == ("12:30", "2026-01-31")


@pytest.mark.parametrize(
    ("word", "quoted"), [("0981", True), ("1e-3", True), ("n", True), ("0o7", True), ("1g", False)]
)
def test_text_that_is_a_number_or_a_boolean_for_kubectl_alone_is_quoted(word: str, quoted: bool) -> None:
    """That kubectl reads it as text is tried on a real one, in tests/kube/test_imports.py."""
    text = (DATA / "kubeflow-kafka.yaml").read_text(encoding="utf-8")
    found = imported(text.replace("  arguments: [", f"  arguments: ['{word}', ")).text
    assert (f"- '{word}'\n" if quoted else f"- {word}\n") in found


def test_a_file_that_cannot_be_written_gets_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    out = tmp_path / "file" / "job.yaml"
    done = CliRunner().invoke(main, ["import", str(DATA / "kubeflow-kafka.yaml"), "-o", str(out)])
    assert (done.exit_code, done.stderr) == (2, f"--out: {out} given; it cannot be written: File exists.\n")


FULL = """
import resource
resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))
from streamjob_cli.main import main
main()
"""
"""A file takes a hundred bytes, as on a disk that is full by then."""


def test_a_disk_that_is_full_leaves_what_was_written_before(tmp_path: Path) -> None:
    """What a person had completed by hand was gone."""
    out = tmp_path / "job.yaml"
    out.write_text("completed by hand", encoding="utf-8")
    words = [sys.executable, "-B", "-c", FULL, "import", str(DATA / "kubeflow-kafka.yaml"), "-o", str(out)]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (2, f"--out: {out} given; it cannot be written: File too large.\n")
    assert [one.read_text(encoding="utf-8") for one in tmp_path.iterdir()] == ["completed by hand"]


def test_what_is_read_is_not_written_over(tmp_path: Path) -> None:
    source = tmp_path / "job.yaml"
    source.write_text((DATA / "kubeflow-kafka.yaml").read_text(encoding="utf-8"), encoding="utf-8")
    done = CliRunner().invoke(main, ["import", str(source), "-o", str(tmp_path / "." / "job.yaml")])
    assert (done.exit_code, "that is what is read, and another file is needed." in done.stderr) == (2, True)
    assert "kind: SparkApplication" in source.read_text(encoding="utf-8")


def test_letters_beyond_ascii_stay_readable() -> None:
    assert "größe" in from_kubeflow("arguments: [größe]").text


def from_kubeflow(spec: str) -> Imported:
    return imported(
        "apiVersion: sparkoperator.k8s.io/v1beta2\nkind: SparkApplication\nmetadata: {name: a}\n"
        f"spec: {{mainApplicationFile: a.py, image: i, {spec}}}"
    )


def test_a_letter_that_json_writes_as_two_halves_is_one_letter() -> None:
    """As most programs write an emoji: kubectl took no YAML with the halves, and a note with them was a traceback."""
    face = "\N{GRINNING FACE}"
    result = from_kubeflow(f"arguments: [{json.dumps(face)}], mode: {json.dumps(face)}")
    assert yaml.safe_load(result.text)["spec"]["application"]["args"] == [face]
    assert f"mode: {face} given; StreamJob's driver always runs in a pod of its own." in result.notes


def test_what_steers_a_terminal_is_told_as_a_mark_and_the_result_can_be_read() -> None:
    """YAML takes no such character in a comment: what was told as valid was read by nobody."""
    result = from_kubeflow(r'mode: "\e[31m", executor: {instances: 1}')
    assert "mode: \ufffd[31m given; StreamJob's driver always runs in a pod of its own." in result.notes
    assert (result.mistakes, parse_job(result.text).metadata.name) == ((), "a")


def test_a_config_map_and_a_secret_of_one_name_are_two_volumes() -> None:
    result = from_kubeflow(
        "driver: {configMaps: [{name: app, path: /a}, {name: app, path: /b}], secrets: [{name: app, path: /s}]}"
    )
    spec = yaml.safe_load(result.text)["spec"]["application"]["driver"]["podTemplate"]["spec"]
    assert spec["volumes"] == [
        {"name": "app-volume", "configMap": {"name": "app"}},
        {"name": "app-volume-2", "secret": {"secretName": "app"}},
    ]
    assert [(one["name"], one["mountPath"]) for one in spec["containers"][0]["volumeMounts"]] == [
        ("app-volume", "/a"),
        ("app-volume", "/b"),
        ("app-volume-2", "/s"),
    ]


def test_settings_of_a_pod_that_spark_would_have_submitted_go_to_its_template_or_are_told() -> None:
    """Nothing is submitted here: as settings they would do nothing, without a word."""
    result = from_kubeflow(
        "sparkConf: {spark.kubernetes.authenticate.driver.serviceAccountName: spark,"
        " spark.kubernetes.driverEnv.REGION: eu, spark.kubernetes.driver.label.team: a,"
        " spark.kubernetes.driver.annotation.note: b, spark.kubernetes.driver.limit.cores: '2',"
        " spark.kubernetes.driver.pod.name: mine, spark.driver.memoryOverhead: 1g,"
        " spark.kubernetes.executor.label.team: a}, driver: {labels: {team: other}}"
    )
    application = yaml.safe_load(result.text)["spec"]["application"]
    template = application["driver"]["podTemplate"]
    assert template["metadata"] == {"labels": {"team": "other"}, "annotations": {"note": "b"}}
    assert template["spec"]["serviceAccountName"] == "spark"
    assert template["spec"]["containers"][0]["env"] == [{"name": "REGION", "value": "eu"}]
    assert application["sparkConf"] == {"spark.kubernetes.executor.label.team": "a"}
    told = "\n".join(result.notes)
    for key in ("driver.limit.cores was '2'", "driver.pod.name was 'mine'", "spark.driver.memoryOverhead was '1g'"):
        assert key in told
    assert "driver.label.team was 'a' and was left out" in told


def test_nobody_owns_or_keeps_the_job_that_owned_or_kept_the_other_object() -> None:
    """Else it is deleted with the schedule that made the SparkApplication, or can never be deleted."""
    result = imported(
        "apiVersion: sparkoperator.k8s.io/v1beta2\nkind: SparkApplication\nmetadata: {name: a, uid: u,"
        " ownerReferences: [{kind: ScheduledSparkApplication, name: s}], finalizers: [some.dev/keep]}\n"
        "spec: {mainApplicationFile: a.py, image: i}"
    )
    assert yaml.safe_load(result.text)["metadata"] == {"name": "a"}
    assert result.mistakes == ()
    for name in ("ownerReferences", "finalizers"):
        assert f"metadata.{name}: it is about the SparkApplication's own object, so it was left out." in result.notes


def test_what_else_is_in_the_file_is_named() -> None:
    text = (DATA / "kubeflow-kafka.yaml").read_text(encoding="utf-8")
    result = imported(f"kind: ConfigMap\nmetadata: {{name: settings}}\n---\n{text}\n---\n[1]\n---\nkind: Secret")
    told = "beside the SparkApplication in this file, so it was left out; it can be applied as it is."
    assert {f"{one}: {told}" for one in ("ConfigMap settings", "A document", "Secret")} <= set(result.notes)


def test_a_list_as_kubectl_writes_it_is_opened() -> None:
    document = yaml.safe_load((DATA / "kubeflow-volumes.yaml").read_text(encoding="utf-8"))
    listed = yaml.safe_dump({"apiVersion": "v1", "kind": "List", "items": [document]}, sort_keys=False)
    assert imported(listed).text == one("kubeflow-volumes").text


ALLOCATED = {
    "kubeflow": (
        "apiVersion: sparkoperator.k8s.io/v1beta2\nspec: {mainApplicationFile: a.py, image: i, sparkConf: SETTINGS}"
    ),
    "apache": "apiVersion: spark.apache.org/v1\nspec: {pyFiles: a.py, sparkConf: SETTINGS}",
}


@pytest.mark.parametrize("kind", ALLOCATED)
def test_bounds_of_dynamic_allocation_that_stand_in_settings_are_kept(kind: str) -> None:
    settings = "".join(
        f"spark.{name}: '{value}', "
        for name, value in (
            ("dynamicAllocation.enabled", "true"),
            ("dynamicAllocation.minExecutors", 3),
            ("dynamicAllocation.maxExecutors", 40),
            ("kubernetes.container.image", "i"),
        )
        if kind == "apache" or name != "kubernetes.container.image"
    )
    text = ALLOCATED[kind].replace("SETTINGS", f"{{{settings}}}")
    result = imported(f"kind: SparkApplication\nmetadata: {{name: a}}\n{text}")
    found = yaml.safe_load(result.text)["spec"]
    assert result.mistakes == ()
    assert found["executors"] == {"min": 3, "max": 40}
    assert "sparkConf" not in found["application"]
    assert not any(note.startswith("executor.instances") for note in result.notes)


@pytest.mark.parametrize(
    ("spec", "executors", "told"),
    [
        ("sparkConf: {spark.executor.instances: '7'}", 7, False),
        ("sparkConf: {spark.executor.instances: '7'}, executor: {instances: 3}", 3, True),
        ("sparkConf: {spark.executor.instances: '3'}, executor: {instances: 3}", 3, False),
        ("sparkConf: {spark.executor.instances: 'many'}", 1, True),
    ],
)
def test_executors_that_a_setting_asks_for_are_kept_or_told(spec: str, executors: int, told: bool) -> None:
    """Kubeflow's operator takes the setting where executor.instances is not given: seven became one, unsaid."""
    result = from_kubeflow(spec)
    found = yaml.safe_load(result.text)["spec"]
    assert found["executors"] == {"min": executors, "max": executors}
    assert "sparkConf" not in found["application"]
    assert any(note.startswith("sparkConf: spark.executor.instances was") for note in result.notes) == told


@pytest.mark.parametrize(
    ("value", "executors", "told"),
    [("7", {"min": 7, "max": 7}, False), ("many", {"min": 2, "max": 2}, True), ("0", {"min": 1, "max": 1}, True)],
)
def test_apaches_setting_is_read_as_kubeflows(value: str, executors: dict[str, int], told: bool) -> None:
    """What is no number was put down to the API server, which takes any text there."""
    text = ALLOCATED["apache"].replace("SETTINGS", f"{{spark.executor.instances: '{value}'}}")
    result = imported(f"kind: SparkApplication\nmetadata: {{name: a}}\n{text}")
    assert yaml.safe_load(result.text)["spec"]["executors"] == executors
    assert any(note.startswith("sparkConf: spark.executor.instances was") for note in result.notes) == told


@pytest.mark.parametrize("kind", ALLOCATED)
@pytest.mark.parametrize(("most", "told"), [(None, True), ("9", False)])
def test_dynamic_allocation_without_a_limit_is_told(kind: str, most: str | None, told: bool) -> None:
    """There it may take any number of executors; here it would have had two for ever, unsaid."""
    bound = "" if most is None else f", spark.dynamicAllocation.maxExecutors: '{most}'"
    settings = f"{{spark.dynamicAllocation.enabled: 'true', spark.dynamicAllocation.minExecutors: '2'{bound}}}"
    result = imported(f"kind: SparkApplication\nmetadata: {{name: a}}\n{ALLOCATED[kind].replace('SETTINGS', settings)}")
    assert yaml.safe_load(result.text)["spec"]["executors"] == {"min": 2, "max": int(most or 2)}
    assert any("executors.max is 2: set it" in note for note in result.notes) == told
