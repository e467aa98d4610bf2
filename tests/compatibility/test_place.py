"""What a row's program runs in."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parents[2]))

from e2e.compatibility.place import _keys

CONF = {f"spark.hadoop.fs.s3a.{name}": "any" for name in ("access.key", "secret.key", "endpoint")}


def test_keys_of_the_session_alone_are_none_of_the_drivers() -> None:
    driver, session = _keys(CONF, own=True)
    assert set(driver) == {"spark.hadoop.fs.s3a.endpoint"}
    assert session == {"fs.s3a.access.key": "any", "fs.s3a.secret.key": "any"}
    assert _keys(CONF, own=False) == (CONF, {})
