"""The open incidents between two runs of the server: a small JSON file that only its owner can read."""

import fcntl
import json
from collections.abc import Mapping
from pathlib import Path
from typing import IO, Any

from app.notices.incidents import Delivery, Incident, Incidents
from lag.errors import ConfigError
from lag.verdict.catalogue import INCIDENTS, Severity
from lag.verdict.status import Status
from lag.whole_file import write_whole

SCHEMA = 1
MODE = 0o600


def load_state(path: Path) -> Incidents:
    """The stored incidents; none if there is no file. Raises ConfigError if it cannot be read or is not ours."""
    try:
        document = json.loads(path.read_bytes())
        if document["schema"] != SCHEMA:
            raise ConfigError(
                f"{path} was written by another version of groupscope", "Move it away, or name another `state`"
            )
        incidents = [_incident(entry) for entry in document["incidents"]]
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise ConfigError(f"{path} cannot be read: {error.strerror}", "Name another file as `state`") from None
    except (ValueError, LookupError, TypeError, AttributeError):
        raise ConfigError(f"{path} does not hold incidents", "Move it away, or name another `state`") from None
    return {incident.id: incident for incident in incidents}


def save_state(path: Path, incidents: Incidents) -> None:
    """Replace the file in one step. Raises ConfigError."""
    document = {"schema": SCHEMA, "incidents": [_document(incident) for incident in incidents.values()]}
    try:
        write_whole(path, json.dumps(document).encode(), MODE)
    except OSError as error:
        raise ConfigError(f"{path} cannot be written: {error.strerror}", "Name a writable file as `state`") from None


def lock_state(path: Path) -> IO[bytes] | None:
    """Claims the file for this process until the result is closed; None: another process has it. Raises ConfigError."""
    beside = path.with_name(f"{path.name}.lock")
    try:
        beside.parent.mkdir(parents=True, exist_ok=True)
        file = beside.open("ab")
    except OSError as error:
        raise ConfigError(f"{beside} cannot be written: {error.strerror}", "Name a writable file as `state`") from None
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        file.close()
        return None
    except OSError:
        return file  # this file system has no locks
    return file


def check_state(path: Path) -> None:
    """Raise ConfigError if the file cannot be used."""
    load_state(path)
    if (lock := lock_state(path)) is not None:
        lock.close()


def _document(incident: Incident) -> Mapping[str, Any]:
    return {
        "id": incident.id,
        "cluster": incident.cluster,
        "group_id": incident.group_id,
        "verdict": incident.verdict,
        "evidence": incident.evidence,
        "started_ms": incident.started_ms,
        "closed_ms": incident.closed_ms,
        "deliveries": {
            name: {"severity": sent.severity, "at_ms": sent.at_ms, "confirmed": sent.confirmed, "closed": sent.closed}
            for name, sent in incident.deliveries.items()
        },
    }


def _incident(entry: Mapping[str, Any]) -> Incident:
    """Raises KeyError, TypeError or ValueError if it is none."""
    deliveries = {
        name: Delivery(Severity(sent["severity"]), int(sent["at_ms"]), bool(sent["confirmed"]), bool(sent["closed"]))
        for name, sent in entry["deliveries"].items()
    }
    verdict = Status(entry["verdict"])
    if verdict not in INCIDENTS:
        raise ValueError("an incident has a verdict with a severity")
    incident_id, cluster, group_id, evidence = (str(entry[name]) for name in ("id", "cluster", "group_id", "evidence"))
    closed_ms = None if entry["closed_ms"] is None else int(entry["closed_ms"])
    started_ms = int(entry["started_ms"])
    return Incident(incident_id, cluster, group_id, verdict, evidence, started_ms, closed_ms, deliveries)
