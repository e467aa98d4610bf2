"""`java_job.py FOLDER`: a Java job under spark-submit, and its answer as every row's program gives it."""

from __future__ import annotations

import json
import pathlib
import sys

from e2e.compatibility.answers import in_order
from e2e.compatibility.lines import CLOSING_KEY
from e2e.compatibility.submitted import JOB, PLUGIN, have_jars_made, plugged, submitted

COLUMNS = ("k", "n", "s")


def main(folder: pathlib.Path) -> int:
    """The exit code of the job."""
    order = json.loads((folder / "order.json").read_text())
    # On the driver's class path alone: executors have no class of the agent.
    options = ["--driver-class-path", str(folder / PLUGIN), "--class", "e2e.compatibility.CountsJob"]
    program = [str(folder / JOB), str(folder), f"{order['checkpoint']}/counts"]
    have_jars_made(folder)
    with submitted(plugged(order["conf"]), options, program) as driver:
        code = driver.wait()
    if code == 0:
        told = json.loads((folder / "told.json").read_text())
        (folder / "result.json").write_text(json.dumps({**told, "rows": {"counts": rows(folder / "said")}}))
    return code


def rows(folder: pathlib.Path) -> list[list[str | int | None]]:
    """The newest row of each key."""
    newest: dict[str, list[str | int | None]] = {}
    for path in sorted(folder.glob("*.json"), key=lambda one: int(one.stem)):
        for row in json.loads(path.read_text()):
            newest[row["k"]] = [row[name] for name in COLUMNS]
    return in_order(row for key, row in newest.items() if key != CLOSING_KEY)


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1])))
