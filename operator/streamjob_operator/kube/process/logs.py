"""The operator's log: one JSON object per line, with the job and the cycle where there is one."""

from __future__ import annotations

import datetime
import json
import logging
import sys

_PLAIN = frozenset(vars(logging.makeLogRecord({}))) | {
    "message",
    "asctime",
    "taskName",
    "settings",
    "k8s_skip",
    "k8s_ref",
}


class JsonFormatter(logging.Formatter):
    """Time, level, logger and message, then whatever the caller added by `extra`."""

    def format(self, record: logging.LogRecord) -> str:
        """One line."""
        at = datetime.datetime.fromtimestamp(record.created, datetime.UTC).isoformat(timespec="milliseconds")
        line: dict[str, object] = {"time": at, "level": record.levelname.lower(), "logger": record.name}
        line["message"] = record.getMessage()
        line |= {name: value for name, value in vars(record).items() if name not in _PLAIN}
        if record.exc_info:
            line["error"] = self.formatException(record.exc_info)
        return json.dumps(line, default=str)


def start_logging(level: str, *, as_json: bool) -> None:
    """Send everything to stderr; kopf's own chatter only when asked for."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonFormatter() if as_json else logging.Formatter("%(asctime)s %(levelname)s %(message)s"))
    logging.basicConfig(level=level.upper(), handlers=[handler], force=True)
    for chatty in ("kopf", "asyncio", "urllib3"):
        logging.getLogger(chatty).setLevel(max(logging.WARNING, logging.getLogger().level))
