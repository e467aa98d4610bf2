import json
import os
from pathlib import Path

import pytest

from streamjob_operator.memory import FileMemory, UnreadableMemory, from_json, to_json
from streamjob_operator.values import Lag, Memory, PendingPlan, RuleState
from streamjob_planners.batch.evidence import TaskEvidence
from streamjob_planners.batch.knowledge import Knowledge

FULL = Memory(
    generation=7,
    application_id="app-1",
    executors_target=3,
    target_since_s=12.5,
    marked=("2", "4"),
    scaling=RuleState(rule="utilization", state={"recommendations": [{"at_s": 1.0, "executors": 3, "since_s": None}]}),
    approved_plan="abc",
    predicted_distance=3.25,
    first_seen_s=1.0,
    retreat_until_s=99.0,
    lag=Lag(at_s=2.0, rows=10.0),
    pending=PendingPlan(
        plan_hash="h", made_at_s=1.0, application_id="app-1", moves={"0/1": ("1", "2")}, executors_wanted=3, marked=()
    ),
    counters={"Balanced": 4},
)


def complain(sentence: str) -> None:
    raise AssertionError(sentence)


@pytest.mark.parametrize(
    "known",
    [{"batches": (1.0,)}, {"share": (0.5,)}, {"high": (2,)}, {"low": (-1,)}],
    ids=["a mean of nothing", "a share of nothing", "a group beyond the last", "one before the first"],
)
def test_what_is_known_of_tasks_speaks_of_the_same_key_groups(known: dict[str, tuple[float, ...]]) -> None:
    """Such a memory was read, and each cycle failed from then on; what cannot be read is begun anew."""
    tasks = TaskEvidence(groups=1, share=(0.5, 0.5), batches=(1.0, 1.0), high=(1,), low=(0,))
    text = to_json(Memory(batches=Knowledge(tasks=tasks)))
    assert from_json(text).batches.tasks == tasks
    document = json.loads(text)
    document["batches"]["tasks"] |= known
    with pytest.raises(UnreadableMemory, match="share, batches, high and low speak of other key groups"):
        from_json(json.dumps(document))


@pytest.mark.parametrize("memory", [Memory(), FULL])
def test_there_and_back(memory: Memory, tmp_path: Path) -> None:
    assert from_json(to_json(memory)) == memory
    store = FileMemory(tmp_path / "new" / "memory.json", complain)
    store.save(memory)
    assert store.load() == memory
    assert [file.name for file in (tmp_path / "new").iterdir()] == ["memory.json"]


def test_no_file_is_a_new_memory(tmp_path: Path) -> None:
    assert FileMemory(tmp_path / "memory.json", complain).load() == Memory()


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "not JSON"),
        ("[" * 100_000, "not JSON"),
        ('{"version": 1, "generation": 3', "not JSON"),
        ("[]", "version None"),
        ('{"version": 99}', "version 99"),
        ('{"version": 1, "generation": "many"}', "generation"),
        ('{"version": 1, "marked": 5}', "marked"),
    ],
)
def test_a_corrupt_file_is_put_aside_with_a_sentence(text: str, why: str, tmp_path: Path) -> None:
    path, told = tmp_path / "memory.json", []
    path.write_text(text)
    with pytest.raises(UnreadableMemory, match=why):
        from_json(text)
    assert FileMemory(path, told.append).load() == Memory()
    assert why in told[0]
    assert (tmp_path / "memory.json.corrupt").read_text() == text
    assert not path.exists()


def test_a_crash_while_writing_leaves_the_old_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = FileMemory(tmp_path / "memory.json", complain)
    store.save(FULL)

    def no_power(*_: object) -> None:
        raise OSError("no power")

    for step in ("fsync", "replace"):
        with monkeypatch.context() as broken:
            broken.setattr(os, step, no_power)
            with pytest.raises(OSError, match="no power"):
                store.save(Memory(generation=8))
        assert store.load() == FULL


def test_a_memory_of_an_earlier_release_without_newer_fields_is_read() -> None:
    document = json.loads(to_json(FULL))
    for name in ("pending", "lag", "retreat_until_s"):
        del document[name]
    assert from_json(json.dumps(document)).generation == 7
