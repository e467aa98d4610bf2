from pathlib import Path

import pytest
from pydantic import BaseModel

from streamjob_operator.spec import Mode, SpecError, StreamJob, parse_job, read_job
from streamjob_operator.spec.quantities import format_duration, format_size, parse_duration, parse_size
from streamjob_operator.spec.sentences import _model_in

SMALLEST = """
apiVersion: streamjob.dev/v1alpha1
kind: StreamJob
metadata: {name: a}
spec: {application: {mainFile: job.py}, executors: {min: 1, max: 2}}
"""


def test_the_smallest_job_moves_nothing_by_itself() -> None:
    spec = parse_job(SMALLEST).spec
    assert (spec.balancing.mode, spec.scaling.mode) == (Mode.RECOMMEND, Mode.RECOMMEND)


def test_off_is_a_mode_and_not_a_boolean() -> None:
    job = parse_job(SMALLEST.replace("max: 2}", "max: 2}, balancing: {mode: Off}"))
    assert job.spec.balancing.mode is Mode.OFF


@pytest.mark.parametrize("word", ["true_positives", "falsehood", "Trues", "12:30", "1:30:15.5", "2026-01-31", "yes"])
def test_a_word_that_begins_like_something_else_is_text(word: str) -> None:
    application = parse_job(SMALLEST.replace("job.py", f"job.py, args: [{word}]")).spec.application
    assert application is not None
    assert application.args == (word,)


@pytest.mark.parametrize(
    ("text", "seconds"), [("500ms", 0.5), ("90s", 90), ("1h30m", 5400), ("1.5s", 1.5), ("0s", 0), ("2d", 172800)]
)
def test_durations(text: str, seconds: float) -> None:
    assert parse_duration(text) == pytest.approx(seconds)
    assert parse_duration(format_duration(seconds)) == pytest.approx(seconds)


def test_the_longest_duration_is_written_without_a_negative_part() -> None:
    """Which its mistake of rounding became."""
    text = format_duration(3.6e33)
    assert "-" not in text
    assert parse_duration(text) == pytest.approx(3.6e33)


@pytest.mark.parametrize(("text", "size"), [("2Gi", 2 * 1024**3), ("512Mi", 512 * 1024**2), ("1.5k", 1500), (7, 7)])
def test_sizes(text: object, size: float) -> None:
    assert parse_size(text) == size
    assert parse_size(format_size(size)) == size


@pytest.mark.parametrize("text", ["", "5", "m", "5 m", "-5s", "5m ", "1e3s", None, True, 5, "5M"])
def test_what_is_no_duration(text: object) -> None:
    with pytest.raises(ValueError, match="a duration such as"):
        parse_duration(text)


@pytest.mark.parametrize("text", ["", "Gi", "2 Gi", "2GB", "-1", None, True, 1.5])
def test_what_is_no_size(text: object) -> None:
    with pytest.raises(ValueError, match="a byte size such as"):
        parse_size(text)


def fields(model: type[BaseModel], path: str = "") -> list[tuple[str, str | None]]:
    found: list[tuple[str, str | None]] = []
    for field in model.model_fields.values():
        name = f"{path}.{field.alias}"
        found.append((name, field.description))
        inner = _model_in(field.annotation)
        found.extend(fields(inner, name) if inner else [])
    return found


@pytest.mark.parametrize(("name", "description"), fields(StreamJob))
def test_every_field_explains_itself(name: str, description: str | None) -> None:
    assert description, f"{name} has no description"
    assert description.endswith(".")


@pytest.mark.parametrize("days", ["30 2", "31 2", "31 2,4,6,9,11"])
def test_a_day_that_never_comes_is_refused(days: str) -> None:
    """Or each cycle that asks whether the window is open would fail."""
    window = f'{{windows: [{{cron: "0 8 {days} *", duration: 1h, deny: [Move]}}]}}'
    job = SMALLEST.replace("max: 2}}", f"max: 2}}, scaling: {window}}}")
    with pytest.raises(SpecError, match=r"windows\[0\]\.cron: '0 8 .*a day that comes is needed"):
        parse_job(job)
    assert parse_job(job.replace(days, "29 2")).spec.scaling.windows


def test_annotations_steer_the_loop() -> None:
    steered = SMALLEST.replace(
        "{name: a}", '{name: a, annotations: {streamjob.dev/pause: "true", streamjob.dev/approve: abc}}'
    )
    assert (parse_job(steered).paused, parse_job(steered).approved_plan) == (True, "abc")
    assert (parse_job(SMALLEST).paused, parse_job(SMALLEST).approved_plan) == (False, None)


def test_a_file_that_cannot_be_read_is_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "latin.yaml").write_bytes(b"name: \xe4")
    said = ("No such file or directory.", "Is a directory.", "it is no text in UTF-8, from byte 6 on.")
    for path, why in zip((tmp_path / "missing.yaml", tmp_path, tmp_path / "latin.yaml"), said, strict=True):
        with pytest.raises(SpecError) as refused:
            read_job(path)
        assert refused.value.sentences == (f"{path}: cannot be read: {why}",)


@pytest.mark.parametrize("text", ["", "just words", "- a list", "12", "{1: 2}", "!!python/object:os.system {}", "\x00"])
def test_whatever_is_not_a_job_is_refused(text: str) -> None:
    with pytest.raises(SpecError):
        parse_job(text)


@pytest.mark.parametrize("port", ["0", "65536", "007078", "x", "", "٧٠٧٨"])
def test_a_port_that_is_none_gets_the_sentence_that_the_api_server_has(port: str) -> None:
    """`streamjob validate` took it, and kubectl apply was refused."""
    broken = SMALLEST.replace("job.py", f'job.py, sparkConf: {{spark.driver.port: "{port}"}}')
    with pytest.raises(SpecError, match=f"spark.driver.port is '{port}'; a port from 1 to 65535 is needed"):
        parse_job(broken)
