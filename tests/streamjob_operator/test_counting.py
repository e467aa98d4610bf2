"""One executor is, several are."""

from streamjob_operator.counting import executors, moves_told


def test_one_and_several() -> None:
    assert [executors(count, "is", "are") for count in (0, 1, 2)] == [
        "0 executors are",
        "1 executor is",
        "2 executors are",
    ]
    assert executors(1) == "1 executor"
    assert [moves_told(count, "costs", "cost") for count in (1, 2)] == ["1 move costs", "2 moves cost"]
