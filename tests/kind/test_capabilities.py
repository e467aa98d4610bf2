"""What the runtime for a machine that lacks capabilities makes of what Docker asks for."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from e2e.kind.bare import capabilities

ALL = "CapBnd:\t000001ffffffffff\n"
WITHOUT_RESOURCE = "Name:\tpython\nCapBnd:\t000001fffeffffff\nCapAmb:\t0000000000000000\n"


def test_a_mask_is_read_by_the_kernels_numbers() -> None:
    assert len(capabilities.there(ALL)) == 41
    assert capabilities.there(ALL) - capabilities.there(WITHOUT_RESOURCE) == {"CAP_SYS_RESOURCE"}
    assert capabilities.there("CapBnd:\t0000000000200001\n") == {"CAP_CHOWN", "CAP_SYS_ADMIN"}


def test_a_process_asks_for_what_is_there_and_keeps_the_rest_of_its_settings() -> None:
    asked = {"bounding": ["CAP_CHOWN", "CAP_SYS_RESOURCE"], "effective": ["CAP_SYS_RESOURCE"]}
    left = capabilities.cut({"cwd": "/", "capabilities": asked}, frozenset({"CAP_CHOWN"}))
    assert left == {"cwd": "/", "capabilities": {"bounding": ["CAP_CHOWN"], "effective": []}}


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ("--log l create --bundle /b --pid-file p id", (Path("/b/config.json"), None)),
        ("--root r run -b /b id", (Path("/b/config.json"), None)),
        ("create id", (Path("config.json"), None)),
        ("--root r exec --process /p.json --detach id", (None, Path("/p.json"))),
        ("exec --process=/p.json id", (None, Path("/p.json"))),
        ("exec -p /p.json id", (None, Path("/p.json"))),
        ("state id", (None, None)),
        ("kill id 9", (None, None)),
    ],
)
def test_the_files_are_those_that_runc_will_read(arguments: str, expected: tuple[Path | None, Path | None]) -> None:
    assert capabilities.files(arguments.split()) == expected


@pytest.fixture
def became(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[list[str]]:
    """What the runtime became, on a machine without CAP_SYS_RESOURCE."""
    called: list[list[str]] = []
    (tmp_path / "status").write_text(WITHOUT_RESOURCE)
    monkeypatch.setattr(capabilities, "STATUS", tmp_path / "status")
    monkeypatch.setattr(capabilities.os, "execvp", lambda _, command: called.append(command))
    return called


def test_a_container_is_cut_before_runc_reads_it(tmp_path: Path, became: list[list[str]]) -> None:
    asked = {"bounding": ["CAP_SYS_RESOURCE", "CAP_KILL"]}
    (tmp_path / "config.json").write_text(json.dumps({"root": {}, "process": {"capabilities": asked}}))
    capabilities.main(["create", "--bundle", str(tmp_path), "id"])
    left = json.loads((tmp_path / "config.json").read_text())
    assert left == {"root": {}, "process": {"capabilities": {"bounding": ["CAP_KILL"]}}}
    assert became == [["runc", "create", "--bundle", str(tmp_path), "id"]]


def test_a_process_without_capabilities_is_left_alone(tmp_path: Path, became: list[list[str]]) -> None:
    (tmp_path / "p.json").write_text('{"args": ["sh"]}')
    capabilities.main(["exec", "--process", str(tmp_path / "p.json"), "id"])
    assert json.loads((tmp_path / "p.json").read_text()) == {"args": ["sh"]}
    assert became[0][0] == "runc"
