"""The files in crds/, and what the schemas made from the models hold."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from streamjob_cli.main import main
from streamjob_operator.kube.crd.command import rendered
from streamjob_operator.kube.crd.definitions import partition_map, stream_job
from streamjob_operator.spec import parse_job

FOLDER = Path(__file__).resolve().parents[3] / "crds"
MINIMAL = """
apiVersion: streamjob.dev/v1alpha1
kind: StreamJob
metadata: {name: job}
spec: {application: {mainFile: job.py}, executors: {min: 1, max: 2}, metrics: {prometheus: {url: "http://p:9090"}}}
"""


def schema_of(definition: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = definition["spec"]["versions"][0]["schema"]["openAPIV3Schema"]
    return found


def fields(schema: dict[str, Any], path: str = "") -> Iterator[tuple[str, dict[str, Any]]]:
    """Every field below a schema, with its path."""
    for name, field in schema.get("properties", {}).items():
        yield f"{path}.{name}", field
        yield from fields(field, f"{path}.{name}")
    for inner in (schema.get("items"), schema.get("additionalProperties")):
        if isinstance(inner, dict):
            yield from fields(inner, f"{path}[]")


def test_the_files_are_fresh() -> None:
    checked = CliRunner().invoke(main, ["crds", "--check", "--folder", str(FOLDER)])
    assert (checked.exit_code, checked.output) == (0, "")


def test_a_stale_or_missing_file_is_named_and_written_anew(tmp_path: Path) -> None:
    command = ["crds", "--folder", str(tmp_path)]
    assert CliRunner().invoke(main, command).exit_code == 0
    (tmp_path / "streamjobs.yaml").write_text("stale", encoding="utf-8")
    (tmp_path / "partitionmaps.yaml").unlink()
    checked = CliRunner().invoke(main, [*command, "--check"])
    assert checked.exit_code == 1
    assert [line.partition(" is stale")[0] for line in checked.output.splitlines()] == [
        str(tmp_path / "streamjobs.yaml"),
        str(tmp_path / "partitionmaps.yaml"),
    ]
    CliRunner().invoke(main, command)
    assert {file.name: file.read_text(encoding="utf-8") for file in tmp_path.iterdir()} == rendered()


def test_what_is_no_text_is_stale(tmp_path: Path) -> None:
    (tmp_path / "streamjobs.yaml").write_bytes(b"\xff")
    checked = CliRunner().invoke(main, ["crds", "--folder", str(tmp_path), "--check"])
    assert (checked.exit_code, f"run `streamjob crds --folder {tmp_path}`." in checked.stderr) == (1, True)


def test_a_folder_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    """Python's own words in many lines, before."""
    (tmp_path / "file").touch()
    (tmp_path / "odd" / "streamjobs.yaml").mkdir(parents=True)
    for folder, sentence in (("file", "File exists."), ("odd", "streamjobs.yaml: Is a directory.")):
        done = CliRunner().invoke(main, ["crds", "--folder", str(tmp_path / folder)])
        assert isinstance(done.exception, SystemExit)
        assert (done.exit_code, sentence in done.stderr) == (1, True), done.output


@pytest.mark.parametrize("definition", [stream_job(), partition_map()], ids=["StreamJob", "PartitionMap"])
def test_every_field_is_described(definition: dict[str, Any]) -> None:
    silent = [path for path, field in fields(schema_of(definition)) if not field.get("description")]
    assert silent == [".metadata", ".metadata.name"]  # Kubernetes' own


def test_what_is_left_out_is_what_the_models_take_for_it() -> None:
    schema = schema_of(stream_job())["properties"]["spec"]
    given = {
        "application": {"mainFile": "job.py"},
        "executors": {"min": 1, "max": 2},
        "metrics": {"prometheus": {"url": "http://p:9090"}},
    }
    filled = {"apiVersion": "streamjob.dev/v1alpha1", "kind": "StreamJob", "metadata": {"name": "job"}}
    filled["spec"] = with_defaults(schema, given)
    assert filled["spec"]["balancing"]["migrationBudget"] == {}
    assert parse_job(str(filled).replace("True", "true").replace("False", "false")) == parse_job(MINIMAL)


def with_defaults(schema: dict[str, Any], value: Any) -> Any:
    """What the API server makes of a value: missing fields get their defaults, from the outside in."""
    if not isinstance(value, dict) or "properties" not in schema:
        return value
    properties = schema["properties"]
    filled = {name: field["default"] for name, field in properties.items() if "default" in field} | value
    return {name: with_defaults(properties[name], content) for name, content in filled.items()}
