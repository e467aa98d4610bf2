"""Where the Kubernetes binary of the tests comes from."""

from __future__ import annotations

import lzma
from pathlib import Path

import pytest
from e2e.cluster import binary


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv(binary.GIVEN, raising=False)
    return tmp_path / "cache" / "streamjob"


def test_without_any_nothing_is_found_and_nothing_is_built() -> None:
    assert binary.find() is None


def test_one_that_was_built_from_these_sources_is_found(cache: Path) -> None:
    cache.mkdir(parents=True)
    (cache / "kube-0000000000000000").touch()  # of other sources
    assert binary.find() is None
    binary._cached().touch()
    assert binary.find() == binary._cached()


def test_a_given_one_is_taken_as_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    given = tmp_path / "kube"
    given.write_bytes(b"plain")
    monkeypatch.setenv(binary.GIVEN, str(given))
    assert binary.find() == given


def test_a_packed_one_is_unpacked_once(tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    given = tmp_path / "kube.xz"
    given.write_bytes(lzma.compress(b"unpacked"))
    monkeypatch.setenv(binary.GIVEN, str(given))
    first = binary.find()
    assert first is not None
    assert (first.read_bytes(), first.stat().st_mode & 0o111, first.parent) == (b"unpacked", 0o111, cache)
    first.write_bytes(b"not unpacked again")
    assert binary.find() == first
    assert first.read_bytes() == b"not unpacked again"
    given.write_bytes(lzma.compress(b"another"))
    assert binary.find() != first


def test_a_given_one_that_is_not_there_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(binary.GIVEN, str(tmp_path / "nowhere"))
    with pytest.raises(FileNotFoundError, match="there is no such file"):
        binary.find()
