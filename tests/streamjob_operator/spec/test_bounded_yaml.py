"""YAML that grows, that has no end, or whose tags lie: told in a sentence, before it takes memory and time."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from streamjob_cli.main import main
from streamjob_operator.kube.api.access import configuration
from streamjob_operator.ports import Unavailable
from streamjob_operator.spec import SpecError, parse_job
from streamjob_operator.spec.bounded_yaml import LARGEST

LEVELS = 30  # of nine aliases each: 9 to the power of 30, however much memory there is
GROWN = f"with each alias written out this has more than {LARGEST:,} characters; at most so many are read."
JOB = """
apiVersion: streamjob.dev/v1alpha1
kind: StreamJob
metadata: {name: orders, annotations: {x: "1"}}
spec:
  application: {image: a, mainFile: "local:///a.py"}
  executors: {min: 1, max: 2}
"""


def laughs(first: str, wrap: str, indent: str = "") -> str:
    """Lists, or maps by merge keys, each of nine aliases of the one before."""
    lines = [f"a0: &a0 {first}"]
    lines += [f"a{one}: &a{one} {wrap % ', '.join([f'*a{one - 1}'] * 9)}" for one in range(1, LEVELS)]
    return "".join(f"{indent}{line}\n" for line in lines)


GROWING = {"lists": laughs("[ha]", "[%s]"), "merged maps": laughs("{ha: 1}", "{<<: [%s]}")}


@pytest.fixture(params=GROWING, ids=lambda name: name.replace(" ", "-"))
def growing(request: pytest.FixtureRequest) -> str:
    return GROWING[request.param]


def asked(tmp_path: Path, text: str, *arguments: str) -> Result:
    """What a command says of a file with that text; FILE stands for it."""
    path = tmp_path / "given.yaml"
    path.write_text(text, encoding="utf-8")
    return CliRunner().invoke(main, [str(path) if one == "FILE" else one for one in arguments])


@pytest.mark.parametrize("command", ["validate", "run", "import", "simulate"])
def test_aliases_that_grow_are_told_by_each_command(tmp_path: Path, growing: str, command: str) -> None:
    told = asked(tmp_path, growing, command, "FILE")
    assert (told.exit_code, GROWN in told.stderr) == (2, True), told.output


def test_aliases_of_a_long_text_count_by_what_they_are(tmp_path: Path) -> None:
    text = f"a: &a {'x' * 100_000}\nb: [{', '.join(['*a'] * 20)}]\n"
    assert f"Line 2: {GROWN}" in asked(tmp_path, text, "validate", "FILE").stderr


def test_documents_of_one_file_are_bounded_together(tmp_path: Path) -> None:
    one = f"a: &a {'x' * 100_000}\nb: [{', '.join(['*a'] * 10)}]\n"
    assert GROWN in asked(tmp_path, f"{one}---\n{one}", "import", "FILE").stderr


def test_ordinary_anchors_aliases_and_merge_keys_go_on() -> None:
    driver = "driver: &size {memory: 2g, cores: 2}, executor: {<<: *size, cores: 1}"
    job = parse_job(JOB.replace("{image: a,", "{image: a, " + driver + ","))
    assert job.spec.application is not None
    assert (job.spec.application.executor.memory, job.spec.application.executor.cores) == ("2g", 1)


@pytest.mark.parametrize("command", ["validate", "run", "import", "simulate"])
def test_a_file_without_an_end_is_told(command: str) -> None:
    told = CliRunner().invoke(main, [command, "/dev/zero"])
    assert told.exit_code == 2
    assert f"/dev/zero: more than {LARGEST:,} bytes; at most so many are read" in told.stderr


def test_a_large_text_that_is_no_file_is_told() -> None:
    with pytest.raises(SpecError, match="This text: more than"):
        parse_job(f"a: {'x' * LARGEST}")


@pytest.mark.parametrize("number", ["9" * 5_000, "0x" + "f" * 5_000, "!!int '" + "1:" * 500 + "1'", "1." + "0" * 500])
def test_a_number_that_takes_long_to_read_is_told(number: str) -> None:
    with pytest.raises(SpecError, match=r"Line 2: a number of [\d,]+ characters given; at most 400 are allowed\."):
        parse_job(f"kind: a\nspec: {number}")


def test_a_number_that_planners_cannot_count_to_is_told() -> None:
    """Every cycle ended with a planner that failed over it."""
    with pytest.raises(SpecError, match=r"spec.balancing.maxIterations: 9+ given; at most 1000000000 is allowed\."):
        parse_job(f"{JOB}  balancing: {{maxIterations: {'9' * 399}}}\n")


@pytest.mark.parametrize(
    "value", ["!!bool x", "!!int ''", "!!float ''", "!!timestamp x", "!!float '" + "9:" * 180 + "9'"]
)
def test_a_value_that_is_not_what_its_tag_says_is_told(value: str) -> None:
    kind = value.split(maxsplit=1)[0].strip("!")
    with pytest.raises(SpecError, match=rf"This is not YAML: line 2, column 7: '.*' is no {kind}"):
        parse_job(f"kind: a\nspec: {value}")


@pytest.mark.parametrize("character", [r"\U00110000", r"\Uffffffff"])
def test_a_character_that_is_none_is_told(character: str) -> None:
    with pytest.raises(SpecError, match="This cannot be read: "):
        parse_job(f'kind: "{character}"')


def test_a_kubeconfig_that_grows_is_told(tmp_path: Path) -> None:
    """The client library writes each user out as text."""
    path = tmp_path / "kubeconfig"
    users = laughs("[ha]", "[%s]", indent="    ")
    path.write_text(f"kind: Config\nusers:\n- name: me\n  user:\n{users}", encoding="utf-8")
    with pytest.raises(Unavailable, match=f"kubeconfig is no kubeconfig: Line [0-9]+: {GROWN}"):
        configuration(path)
