"""`groupscope doctor`: checks what the dashboard, the demo and the pipeline need."""

import os
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass
from importlib import metadata
from pathlib import Path

import typer

from app.cli.serve import refuse_taken
from app.cli.shared.options import Bootstrap, Config, Deadline, Json, new_command
from app.cli.shared.output import emit, emit_json
from app.ui import formats
from assignors.offsets_partition import OFFSETS_TOPIC
from lag.cluster.connection.settings import Settings as ClientSettings
from lag.cluster.connection.settings import load_settings
from lag.cluster.offsets_log import OffsetsLog, open_offsets_log
from lag.cluster.reader import ClusterReader, open_reader
from lag.embedded.jars import missing_jars
from lag.embedded.java import find_java
from lag.errors import ConfigError, GroupscopeError
from lag.model import ClusterSnapshot, GroupType, Problem
from lag.times import wall_clock_ms

PORT = 8501
PACKAGES = ("groupscope", "kafka-python", "streamlit", "plotly", "pandas", "numpy")
EXTRAS = {
    "demo": ("confluent-kafka",),
    "pipeline": ("pyspark", "delta-spark"),
    "tools": ("mcp",),
    "kerberos": ("gssapi",),
    "msk": ("aws-msk-iam-sasl-signer-python",),
}
WITHOUT_RECORDS = "rebalances are inferred from polls, which miss some, and `pipeline stream` records nothing"


command = new_command()


@command.command()
def doctor(
    bootstrap_server: Bootstrap = None, config: Config = None, deadline: Deadline = 5.0, json: Json = False
) -> None:
    """Check what groupscope needs, and say how to fix it.

    Versions, Java, jars and the port; and, with a cluster, the connection and the ACLs.
    """
    checks = []
    for check in _checks(bootstrap_server, config, deadline):
        checks.append(check)
        if not json:
            _print(check)
    failed = [check.name for check in checks if check.ok is False]
    if json:
        emit_json({"ok": not failed, "checks": [asdict(check) for check in checks]})
    else:
        names = ", ".join(dict.fromkeys(failed))
        emit()
        emit(f"Failed: {names}. The lines with -> say how to fix it." if failed else "All checks passed.")
    if failed:
        raise typer.Exit(1)


@dataclass(frozen=True, slots=True)
class Check:
    """One line: `ok` None means "not needed here, for your information"."""

    name: str
    ok: bool | None
    detail: str
    hint: str = ""


def _print(check: Check) -> None:
    word = {True: "ok", False: "FAILS", None: "--"}[check.ok]
    emit(f"{word:<7}{check.name:<13}{check.detail}")
    if check.hint:
        emit(f"{'':<20}-> {check.hint}")


def _checks(bootstrap: str | None, config: Path | None, deadline_s: float) -> Iterator[Check]:
    yield _versions()
    yield from map(_extra, EXTRAS)
    yield _tried("Java", _java)
    yield _tried("jars", _jars)
    yield _port()
    is_set = any(name in os.environ for name in ("GROUPSCOPE_BOOTSTRAP_SERVERS", "GROUPSCOPE_CONFIG"))
    if bootstrap is None and config is None and not is_set:
        hint = "Give --bootstrap-server HOST:PORT or --config FILE to check a cluster as well"
        yield Check("connection", None, "no cluster given", hint)
        return
    yield from _cluster(bootstrap, config, deadline_s)


def _tried(name: str, check: Callable[[], Check]) -> Check:
    try:
        return check()
    except GroupscopeError as error:
        return Check(name, False, error.cause, error.hint)


def _versions() -> Check:
    python = ".".join(map(str, sys.version_info[:3]))
    return Check("versions", True, f"Python {python}, {', '.join(filter(None, map(_version, PACKAGES)))}")


def _extra(name: str) -> Check:
    versions = [_version(package) for package in EXTRAS[name]]
    if all(versions):
        return Check(name, True, ", ".join(filter(None, versions)))
    return Check(name, None, "not installed", f"Install groupscope[{name}] if you want it")


def _version(package: str) -> str | None:
    try:
        return f"{package} {metadata.version(package)}"
    except metadata.PackageNotFoundError:
        return None


def _java() -> Check:
    java = find_java()
    return Check("Java", True, f"version {java.version} from {java.source}: {java.home}")


def _jars() -> Check:
    missing = missing_jars()
    if missing.files:
        hint = "`groupscope jars` downloads them; `groupscope up` does so when it needs them"
        return Check("jars", None, f"{missing.files} of {missing.of} jars are not downloaded yet", hint)
    return Check("jars", True, f"all {missing.of} are downloaded, checksums verified")


def _port() -> Check:
    try:
        refuse_taken("127.0.0.1", PORT)
    except ConfigError:
        hint = "Use another port for `groupscope up` or `serve`: --port 0 takes a free one"
        return Check("port", None, f"{PORT} is taken", hint)
    return Check("port", True, f"{PORT} is free")


def _cluster(bootstrap: str | None, config: Path | None, deadline_s: float) -> Iterator[Check]:
    started = time.monotonic()
    try:
        settings = load_settings(bootstrap, config, os.environ)
        with closing(open_reader(settings, settings.name, deadline_s)) as reader:
            snapshot = reader.read(1, wall_clock_ms())
            yield Check("connection", True, _reached(snapshot, settings.security_protocol, time.monotonic() - started))
            yield from _read(snapshot, reader)
            yield _records(settings, deadline_s)
    except GroupscopeError as error:
        yield Check("connection", False, error.cause, error.hint)


def _records(settings: ClientSettings, deadline_s: float) -> Check:
    """Whether `__consumer_offsets` can be read."""
    with closing(open_offsets_log(settings, deadline_s)) as log:
        found = log.partitions()
        problem = found.problem or _refused(log, range(found.count))
    if problem is not None:
        return Check("records", None, f"{problem.cause}: {WITHOUT_RECORDS}", problem.hint)
    if not found.count:
        return Check("records", None, f"{OFFSETS_TOPIC} does not exist yet: no group has committed")
    return Check("records", True, f"{OFFSETS_TOPIC} can be read: for recorded rebalances and `pipeline stream`")


def _refused(log: OffsetsLog, partitions: Sequence[int]) -> Problem | None:
    """Why the first unreadable one of these partitions cannot be read."""
    ends = {number: bounds.log_end for number, bounds in log.bounds(partitions).items()}
    return next((piece.problem for piece in log.read(ends) if piece.problem is not None), None)


def _reached(snapshot: ClusterSnapshot, protocol: str, took_s: float) -> str:
    brokers = formats.plural(len(snapshot.brokers), "broker")
    return f"cluster {snapshot.cluster_id}, {brokers}, read over {protocol} in {took_s:.1f} s"


def _read(snapshot: ClusterSnapshot, reader: ClusterReader) -> Iterator[Check]:
    yield Check("broker", True, f"Kafka {reader.broker_version()}, {_types(reader)}")
    for broker in snapshot.brokers:
        if broker.error:
            yield Check("broker", False, broker.error, "Check that it is running and can be reached from here")
    yield _authorised(snapshot)
    for problem in snapshot.problems:
        if problem.scope != "broker" and not problem.is_refusal:
            yield Check(problem.scope, False, f"{problem.subject}: {problem.cause}", problem.hint)


def _types(reader: ClusterReader) -> str:
    known = reader.group_types()
    missing = [kind for kind in GroupType if kind not in known and kind is not GroupType.UNKNOWN]
    return "describes every type of group" if not missing else f"too old to describe {', '.join(missing)} groups"


def _authorised(snapshot: ClusterSnapshot) -> Check:
    refused = [f"{p.scope} {p.subject}: {p.cause}" for p in snapshot.problems if p.is_refusal]
    seen = f"{formats.plural(len(snapshot.groups), 'group')} and {formats.plural(len(snapshot.topics), 'topic')} seen"
    if refused:
        return Check("authorised", False, "; ".join([seen, *refused]), "Grant DESCRIBE on the listed resources")
    if not snapshot.groups:
        hint = "If there are groups, grant DESCRIBE on the cluster or on the groups"
        return Check("authorised", None, seen, hint)
    return Check("authorised", True, seen)
