from pathlib import Path

from streamjob_operator.values import Reason

PAGE = Path(__file__).resolve().parents[2] / "docs/reference/reasons.md"


def test_every_reason_has_its_row_and_every_row_its_reason() -> None:
    rows = [line.split("|")[1].strip() for line in PAGE.read_text(encoding="utf-8").splitlines() if line[:1] == "|"]
    codes = [row for row in rows if row not in ("code", "---")]
    assert sorted(codes) == sorted(reason.value for reason in Reason)
