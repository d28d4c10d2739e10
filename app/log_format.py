"""The log of a command, on stderr: lines for people, or one JSON object per line."""

import json
import logging
import traceback
from datetime import UTC, datetime
from enum import StrEnum


class JsonLines(logging.Formatter):
    """An entry as one line of JSON: `at` (ISO 8601, UTC), `level`, `logger`, `message`; `exception`: its traceback."""

    def format(self, record: logging.LogRecord) -> str:
        """The line without its end."""
        entry = {
            "at": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname,
            "logger": record.name,
            "message": record.getMessage(),
        }
        if record.exc_info:
            entry["exception"] = "".join(traceback.format_exception(*record.exc_info))
        return json.dumps(entry)


class LogFormat(StrEnum):
    """How each entry is written."""

    TEXT = "text"
    JSON = "json"

    def use(self) -> None:
        """Write what the handlers of the root logger get in this format; as JSON, Python's own warnings too."""
        if self is LogFormat.JSON:
            logging.captureWarnings(True)
            for handler in logging.getLogger().handlers:
                handler.setFormatter(JsonLines())
