"""Which Kubernetes is built and started."""

from __future__ import annotations

from pathlib import Path

import pytest
from e2e.cluster import binary, versions

CHART = Path(__file__).parents[2] / "charts" / "streamjob" / "Chart.yaml"


@pytest.mark.parametrize(
    ("environment", "expected"),
    [
        ({}, versions.NEWEST),
        ({"KUBERNETES": ""}, versions.NEWEST),
        ({"KUBERNETES": "1.34"}, versions.NEWEST),
        ({"KUBERNETES": "1.30"}, versions.OLDEST),
    ],
)
def test_it_is_asked_for_by_its_minor(environment: dict[str, str], expected: versions.Version) -> None:
    assert versions.wanted(environment) == expected


def test_another_is_refused_by_name() -> None:
    with pytest.raises(ValueError, match=r"KUBERNETES is 1\.29: it may be 1\.34 or 1\.30\."):
        versions.wanted({"KUBERNETES": "1.29"})


def test_the_oldest_is_the_one_that_the_chart_allows() -> None:
    assert f'kubeVersion: ">={versions.OLDEST.minor}.0-0"' in CHART.read_text(encoding="utf-8")


@pytest.mark.parametrize("version", versions.KNOWN.values(), ids=str)
def test_its_modules_are_there_and_name_it(version: versions.Version) -> None:
    module, sums = (binary.MODULE / name for name in version.modules)
    assert f"k8s.io/kubernetes v{version.number}\n" in module.read_text(encoding="utf-8")
    assert f"k8s.io/kubernetes v{version.number} h1:" in sums.read_text(encoding="utf-8")


def test_each_has_files_of_its_own_in_the_cache_and_a_given_one_is_the_newest(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    (given := tmp_path / "kube").touch()
    monkeypatch.setenv(binary.GIVEN, str(given))
    newest = binary._cached()
    monkeypatch.setenv(versions.ASKED, versions.OLDEST.minor)
    assert binary._cached() != newest
    assert binary.find() is None
    monkeypatch.delenv(versions.ASKED)
    assert binary.find() == given
