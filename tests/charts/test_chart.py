"""The chart beside the code: what it names must exist, what it contains must be fresh, what it renders is checked."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from streamjob_operator.kube.crd.command import rendered
from streamjob_operator.kube.names import Annotation
from streamjob_operator.kube.process.telemetry_names import FAMILIES

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))

from e2e.cluster import helm, prometheus  # noqa: E402 - needs the path above

CHART = ROOT / "charts" / "streamjob"
NAMED = re.compile(r"streamjob_[a-z_]+")


def known_series() -> set[str]:
    names = {one.name for one in FAMILIES}
    return names | {f"{one.name}_bucket" for one in FAMILIES if one.kind == "histogram"}


@pytest.mark.parametrize("name", ["streamjob.json", "operator.json"])
def test_every_series_of_a_dashboard_is_one_that_the_operator_has(name: str) -> None:
    panels = json.loads((CHART / "dashboards" / name).read_text(encoding="utf-8"))["panels"]
    used = {series for panel in panels for target in panel["targets"] for series in NAMED.findall(target["expr"])}
    assert used
    assert used <= known_series()


def test_every_series_of_an_alert_is_one_that_the_operator_has() -> None:
    groups = yaml.safe_load((CHART / "rules" / "streamjob.yaml").read_text(encoding="utf-8"))["groups"]
    used = {series for group in groups for rule in group["rules"] for series in NAMED.findall(rule["expr"])}
    assert used
    assert used <= known_series()


def test_the_charts_crds_are_those_of_the_models() -> None:
    assert {one.name: one.read_text(encoding="utf-8") for one in (CHART / "crd-files").iterdir()} == rendered()


def test_the_alerts_fire_when_they_should() -> None:
    promtool = prometheus.get("promtool")
    if promtool is None:
        pytest.skip(prometheus.HOW_TO_GET)
    command = [str(promtool), "test", "rules", "alerts.yaml"]
    done = subprocess.run(command, cwd=Path(__file__).parent, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def render(
    *settings: str, release: str = "sj", namespace: str = "ops", option: str = "--set"
) -> tuple[int, list[dict], str]:
    program = helm.find()
    if program is None:
        pytest.skip(helm.HOW_TO_GET)
    command = [str(program), "template", release, str(CHART), f"--namespace={namespace}", "--kube-version=1.34"]
    done = subprocess.run(
        [*command, *(f"{option}={one}" for one in settings)], capture_output=True, text=True, check=False
    )
    return done.returncode, [one for one in yaml.safe_load_all(done.stdout) if one], done.stderr


def kinds(documents: list[dict]) -> set[str]:
    return {one["kind"] for one in documents}


def test_without_namespaces_the_operator_may_act_in_all() -> None:
    code, documents, error = render()
    assert code == 0, error
    assert {"ClusterRole", "ClusterRoleBinding", "Deployment", "CustomResourceDefinition"} <= kinds(documents)
    assert "PodDisruptionBudget" not in kinds(documents)


def test_with_namespaces_it_may_act_in_those_alone() -> None:
    code, documents, error = render("watch.namespaces={a,b}", "replicas=2")
    assert code == 0, error
    assert "ClusterRoleBinding" not in kinds(documents)
    roles = {(one["metadata"]["namespace"], one["metadata"]["name"]) for one in documents if one["kind"] == "Role"}
    assert roles == {("a", "sj"), ("b", "sj"), ("a", "sj-lease")}
    assert "PodDisruptionBudget" in kinds(documents)
    container = next(one for one in documents if one["kind"] == "Deployment")["spec"]["template"]["spec"]["containers"][
        0
    ]
    assert {"--namespace=a", "--namespace=b"} <= set(container["args"])


def deployed(*settings: str) -> dict:
    """The spec of the operator's pods."""
    code, documents, error = render(*settings)
    assert code == 0, error
    return next(one for one in documents if one["kind"] == "Deployment")["spec"]["template"]["spec"]


@pytest.mark.parametrize(
    ("settings", "namespace"),
    [
        ((), "kube-system"),
        (("watch.namespaces={b,a}",), "a"),
        (("watch.namespaces={a,b}",), "a"),
        (("lease.namespace=ops",), "ops"),
    ],
)
def test_releases_of_one_scope_have_one_lease(settings: tuple[str, ...], namespace: str) -> None:
    """Or two of them would both act."""
    args = deployed(*settings)["containers"][0]["args"]
    assert {f"--lease-namespace={namespace}", "--lease-name=streamjob-operator"} <= set(args)
    _, documents, _ = render(*settings)
    leases = [one for one in documents if one["metadata"]["name"] == "sj-lease"]
    assert {one["metadata"]["namespace"] for one in leases} == {namespace}


def test_no_user_is_fixed_so_that_openshift_can_choose_one() -> None:
    assert deployed()["securityContext"] == {"runAsNonRoot": True, "seccompProfile": {"type": "RuntimeDefault"}}


def test_an_image_by_digest_has_no_tag() -> None:
    digest = f"sha256:{'a' * 64}"
    assert deployed(f"image.digest={digest}")["containers"][0]["image"] == f"streamjob-operator@{digest}"


def test_further_environment_spread_and_monitors_labels_reach_the_pod() -> None:
    pod = deployed(
        "operator.extraEnv[0].name=HTTPS_PROXY",
        "operator.extraEnv[0].value=http://proxy",
        "topologySpreadConstraints[0].maxSkew=1",
        "topologySpreadConstraints[0].topologyKey=zone",
        "drivers.monitorLabels.release=stack",
        "drivers.monitor=ServiceMonitor",
    )
    assert {"name": "HTTPS_PROXY", "value": "http://proxy"} in pod["containers"][0]["env"]
    assert {"--monitor-label=release=stack", "--driver-monitor=ServiceMonitor"} <= set(pod["containers"][0]["args"])
    (spread,) = pod["topologySpreadConstraints"]
    assert spread["labelSelector"]["matchLabels"]["app.kubernetes.io/instance"] == "sj"


def test_a_spread_with_a_selector_of_its_own_keeps_that_alone() -> None:
    """The operator's labels were put beside it, so that it spread over fewer pods than it says."""
    spread = "topologySpreadConstraints[0]"
    settings = (f"{spread}.topologyKey=zone", f"{spread}.maxSkew=1", f"{spread}.labelSelector.matchLabels.team=data")
    (told,) = deployed(*settings)["topologySpreadConstraints"]
    assert told == {"topologyKey": "zone", "maxSkew": 1, "labelSelector": {"matchLabels": {"team": "data"}}}


def texts(document: dict) -> Iterator[object]:
    """What the API server takes as text alone."""
    metadata, pod = document["metadata"], document.get("spec", {}).get("template", {})
    yield from (metadata["name"], metadata.get("namespace", ""), *metadata.get("labels", {}).values())
    yield from pod.get("metadata", {}).get("labels", {}).values()
    yield from (pod.get("spec", {}).get(name, "") for name in ("serviceAccountName", "priorityClassName"))
    yield from (one[name] for one in document.get("subjects", ()) for name in ("name", "namespace"))
    yield from (name for rule in document.get("rules", ()) for name in rule.get("resourceNames", ()))
    yield document.get("roleRef", {}).get("name", "")


def test_names_of_digits_alone_are_texts() -> None:
    """As of projects with numbers: YAML had numbers, and the API server refused them with a sentence about Go."""
    settings = (
        'watch.namespaces=["12"]',
        'serviceAccount.name="34"',
        'priorityClassName="56"',
        'lease.name="78"',
        "service.enabled=true",
        "networkPolicy.enabled=true",
        "podMonitor.enabled=true",
    )
    code, documents, error = render(*settings, release="0123", namespace="9", option="--set-json")
    assert code == 0, error
    wrong = [(one["kind"], text) for one in documents for text in texts(one) if not isinstance(text, str)]
    assert wrong == []
    deployment = next(one for one in documents if one["kind"] == "Deployment")["spec"]
    assert deployment["selector"]["matchLabels"].items() <= deployment["template"]["metadata"]["labels"].items()


@pytest.mark.parametrize("release", ["a.b", "a" * 49 + ".b", "a" * 49 + "-b"])
def test_names_made_of_a_release_s_are_names(release: str) -> None:
    """One that is cut at a dot was refused for its end, and a Service may have no dot at all."""
    code, documents, error = render("service.enabled=true", release=release)
    assert code == 0, error
    for one in documents:
        shape = "[a-z]([-a-z0-9]*[a-z0-9])?" if one["kind"] == "Service" else "[a-z0-9]([-.a-z0-9]*[a-z0-9])?"
        assert one["kind"] == "CustomResourceDefinition" or re.fullmatch(shape, one["metadata"]["name"]), one[
            "metadata"
        ]


def test_the_pod_of_helm_test_runs_where_the_operator_does() -> None:
    """Without the pull secret its image never came, and without the toleration no node took it."""
    placed = {
        "image": {"pullSecrets": ["registry"]},
        "nodeSelector": {"pool": "infra"},
        "tolerations": [{"key": "infra", "operator": "Exists"}],
        "priorityClassName": "high",
        "affinity": {"nodeAffinity": {"x": 1}, "podAntiAffinity": {"y": 2}},
    }
    settings = [f"{name}={json.dumps(value)}" for name, value in placed.items()]
    code, documents, error = render(*settings, option="--set-json")
    assert code == 0, error
    operator = next(one for one in documents if one["kind"] == "Deployment")["spec"]["template"]["spec"]
    test = next(one for one in documents if one["kind"] == "Pod")["spec"]
    alike = ("imagePullSecrets", "nodeSelector", "tolerations", "priorityClassName")
    assert {name: test.get(name) for name in alike} == {name: operator[name] for name in alike}
    assert test["affinity"] == {"nodeAffinity": {"x": 1}}, "other operators' pods do not keep it away"
    assert test["containers"][0]["resources"]["limits"]["memory"], "a quota may ask for it"


def test_quotas_of_executors_reach_the_operator() -> None:
    pod = deployed("operator.executorQuotas.streams=40", "operator.executorQuotas.\\*=1000000")
    assert {"--executor-quota=streams=40", "--executor-quota=*=1000000"} <= set(pod["containers"][0]["args"])


def test_the_operator_knows_how_much_memory_it_may_use() -> None:
    (told,) = [one for one in deployed()["containers"][0]["env"] if one["name"] == "STREAMJOB_MEMORY_BYTES"]
    assert told["valueFrom"] == {"resourceFieldRef": {"containerName": "operator", "resource": "limits.memory"}}


def test_people_get_what_their_roles_say_and_an_approver_neither_makes_nor_deletes() -> None:
    _, documents, _ = render()
    roles = {one["metadata"]["name"]: one for one in documents if one["kind"] == "ClusterRole"}
    view, edit, approve = (roles[f"sj-ops-{name}"] for name in ("view", "edit", "approve"))
    aggregate = "rbac.authorization.k8s.io/aggregate-to-"
    assert view["metadata"]["labels"][f"{aggregate}view"] == "true"
    assert f"{aggregate}view" not in edit["metadata"]["labels"]
    assert edit["metadata"]["labels"][f"{aggregate}edit"] == "true"
    assert not any(one.startswith(aggregate) for one in approve["metadata"]["labels"])
    assert {verb for rule in view["rules"] for verb in rule["verbs"]} == {"get", "list", "watch"}
    assert not {"create", "delete"} & {verb for rule in approve["rules"] for verb in rule["verbs"]}
    _, without, _ = render("rbac.people=false")
    assert "sj-ops-view" not in {one["metadata"]["name"] for one in without}


def test_the_policy_for_approvers_speaks_of_our_annotations_and_comes_with_their_role() -> None:
    _, documents, _ = render()
    policy = next(one for one in documents if one["kind"] == "ValidatingAdmissionPolicy")
    binding = next(one for one in documents if one["kind"] == "ValidatingAdmissionPolicyBinding")
    assert binding["spec"]["policyName"] == policy["metadata"]["name"] == "sj-ops-approve"
    theirs = next(one["expression"] for one in policy["spec"]["variables"] if one["name"] == "theirs")
    assert set(re.findall(r"'([^']+)'", theirs)) == {one.value for one in Annotation}
    _, without, _ = render("rbac.people=false")
    assert not {"ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding"} & kinds(without)


def test_crds_survive_an_uninstall() -> None:
    _, documents, _ = render()
    crds = [one for one in documents if one["kind"] == "CustomResourceDefinition"]
    assert len(crds) == 2
    assert all(one["metadata"]["annotations"]["helm.sh/resource-policy"] == "keep" for one in crds)


def test_every_switch_renders() -> None:
    switches = (
        "podMonitor.enabled=true",
        "prometheusRule.enabled=true",
        "dashboards.enabled=true",
        "service.enabled=true",
        "serviceMonitor.enabled=true",
        "networkPolicy.enabled=true",
        "crds.install=false",
    )
    code, documents, error = render(*switches)
    assert code == 0, error
    wanted = {"PodMonitor", "PrometheusRule", "ConfigMap", "Service", "ServiceMonitor", "NetworkPolicy"}
    assert wanted <= kinds(documents)
    assert "CustomResourceDefinition" not in kinds(documents)


@pytest.mark.parametrize(
    ("setting", "field"),
    [
        ("image.pullPolicy=never", "/image/pullPolicy"),
        ("replicas=-1", "/replicas"),
        ("operator.workers=0", "/operator/workers"),
        ("watch.namespaces={Bad_Name}", "/watch/namespaces/0"),
        ("podMonitor.interval=often", "/podMonitor/interval"),
        ("replica=2", "replica"),
        ("image.digest=latest", "/image/digest"),
        ("drivers.monitor=Pod", "/drivers/monitor"),
        ("serviceMonitor.enabled=true", "service.enabled is needed"),
    ],
)
def test_a_bad_value_dies_with_a_sentence_that_names_it(setting: str, field: str) -> None:
    code, _, error = render(setting)
    assert code != 0
    assert field in error
