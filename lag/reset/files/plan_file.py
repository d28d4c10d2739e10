"""The file of a plan, JSON or YAML, as it is read: what is wrong in it is named with its line.

`summary`, `warnings` and `totals` are for the reader of the file, and not used.
"""

from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    Base64Bytes,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationError,
    model_validator,
)

from assignors.model import TopicPartition
from lag.errors import ConfigError
from lag.model import GroupType
from lag.reset.model import Action, Kind, PartitionPlan, Plan, PlannedMember, RecordHead
from lag.settings_file import parse_settings
from lag.times import from_iso_time
from lag.whole_file import write_new_whole

MOST_BYTES = 64 * 1024 * 1024
YAML_ENDINGS = (".yaml", ".yml")
Offset = Annotated[int, Field(ge=0, lt=2**63)]
Count = Annotated[int, Field(ge=0)]
Time = Annotated[int, BeforeValidator(from_iso_time)]
"""Milliseconds since 1970; in the file as `iso_time` writes them."""


def _encodable(text: str) -> str:
    """JSON can have half of a surrogate pair, which no bytes stand for."""
    try:
        text.encode()
    except UnicodeEncodeError:
        raise ValueError("this is not Unicode text") from None
    return text


Text = Annotated[str, AfterValidator(_encodable)]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True)


class _RecordFile(_Strict):
    offset: Offset
    at: Time
    key: Text | None = None
    key_base64: Base64Bytes | None = None
    headers: list[tuple[Text, Text | None]] = []
    value_bytes: Count | None = None
    value: Text | None = None
    value_base64: Base64Bytes | None = None


class _PartitionFile(_Strict):
    topic: Annotated[str, Field(min_length=1, max_length=249, pattern=r"^[A-Za-z0-9._-]+$")]
    partition: Count
    action: Action
    from_offset: Offset | None = Field(None, alias="from")
    to_offset: Offset | None = Field(None, alias="to")
    asked: int | None = None
    read_again: Count | None = None
    skipped: Count | None = None
    deleted: Count = 0
    offsets_without_record: Count | None = None
    from_at: Time | None = None
    to_at: Time | None = None
    lag_before: int | None = None
    lag_after: int | None = None
    log_start: Offset | None = None
    log_end: Offset | None = None
    last_stable: int | None = None
    topic_id: str | None = None
    topic_is_gone: bool = False
    from_metadata: Text = ""
    to_metadata: Text = ""
    reason: Text = ""
    notes: list[Text] = []
    records: list[_RecordFile] = []

    @model_validator(mode="after")
    def _has_offset(self) -> "_PartitionFile":
        if (self.action is Action.SET) != (self.to_offset is not None):
            raise ValueError("`to` is an offset if the action is set, and null otherwise")
        return self


class _MemberFile(_Strict):
    member_id: Text
    client_id: Text = ""
    host: Text = ""
    instance_id: Text | None = None


class PlanFile(_Strict):
    """The document."""

    schema_version: Literal[1]
    kind: Kind
    cluster_id: Text | None
    group: Annotated[Text, Field(min_length=1)]
    group_type: GroupType | None
    made_at: Time
    state: Text
    epoch: int | None = None
    members: list[_MemberFile] = []
    specification: Text
    summary: str = ""
    warnings: list[str] = []
    totals: dict[str, int] = {}
    instance_id: Text | None = None
    undoes: Text | None = None
    command: Text = ""
    partitions: list[_PartitionFile] = []

    @model_validator(mode="after")
    def _partitions_differ(self) -> "PlanFile":
        if len({(row.topic, row.partition) for row in self.partitions}) < len(self.partitions):
            raise ValueError("a partition is listed twice")
        if (self.kind is Kind.REMOVE_MEMBER) != (self.instance_id is not None):
            raise ValueError("instance_id is required for the kind remove_member, and allowed only there")
        return self


def write_new(path: Path, text: str) -> None:
    """Write a new file as a whole, readable by its owner only, and wait until the disk has it. Raises ConfigError."""
    try:
        write_new_whole(path, text.encode())
    except FileExistsError:
        raise ConfigError(f"{path} already exists", "Name another file: plans are not overwritten") from None
    except OSError as error:
        raise ConfigError(
            f"{path} cannot be written: {error.strerror}", "Name a file in a folder that you can write to"
        ) from None


def load_plan(path: Path) -> Plan:
    """The plan in a file. Raises ConfigError, which names the lines of what is wrong."""
    return parse_plan(read_file(path), str(path))


def read_file(path: Path) -> bytes:
    """The bytes of a plan, or of another file of offsets. Raises ConfigError."""
    try:
        if path.is_file() and path.stat().st_size > MOST_BYTES:
            raise ConfigError(f"{path} is larger than 64 MB", "Name a plan file written by groupscope reset plan")
        return path.read_bytes()
    except OSError as error:
        raise ConfigError(
            f"{path} cannot be read: {error.strerror}", "Name a plan file written by groupscope reset plan"
        ) from None


def parse_plan(data: bytes, name: str) -> Plan:
    """The plan in the bytes of the file `name`. Raises ConfigError, which names the lines of what is wrong."""
    try:
        return _plan(parse_settings(data, name, PlanFile))
    except ValidationError:
        raise ConfigError(f"{name} is empty", "Name a plan file written by groupscope reset plan") from None


def plan_from_document(document: Any) -> Plan:
    """The plan of a document. Raises ConfigError."""
    try:
        return _plan(PlanFile.model_validate(document))
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(map(str, first["loc"]))
        raise ConfigError(f"This is not a plan: {where}: {first['msg']}", "Create a new plan") from None


def _plan(file: PlanFile) -> Plan:
    return Plan(
        kind=file.kind,
        cluster_id=file.cluster_id,
        group_id=file.group,
        group_type=file.group_type,
        made_at_ms=file.made_at,
        state=file.state,
        epoch=file.epoch,
        members=tuple(PlannedMember(**member.model_dump()) for member in file.members),
        specification=file.specification,
        partitions=tuple(map(_row, file.partitions)),
        command=file.command,
        instance_id=file.instance_id,
        undoes=file.undoes,
    )


def _row(row: _PartitionFile) -> PartitionPlan:
    return PartitionPlan(
        tp=TopicPartition(row.topic, row.partition),
        action=row.action,
        from_offset=row.from_offset,
        to_offset=row.to_offset,
        from_metadata=row.from_metadata,
        to_metadata=row.to_metadata,
        topic_id=row.topic_id,
        topic_is_gone=row.topic_is_gone,
        asked_offset=row.asked,
        log_start=row.log_start,
        log_end=row.log_end,
        last_stable=row.last_stable,
        from_ms=row.from_at,
        to_ms=row.to_at,
        read_again=row.read_again,
        skipped=row.skipped,
        deleted=row.deleted,
        gaps=row.offsets_without_record,
        lag_before=row.lag_before,
        lag_after=row.lag_after,
        reason=row.reason,
        notes=tuple(row.notes),
        records=tuple(map(_head, row.records)),
    )


def _head(record: _RecordFile) -> RecordHead:
    return RecordHead(
        offset=record.offset,
        timestamp_ms=record.at,
        key=_data(record.key, record.key_base64),
        headers=tuple((name, None if value is None else value.encode()) for name, value in record.headers),
        value_bytes=record.value_bytes,
        value=_data(record.value, record.value_base64),
    )


def _data(text: str | None, data: bytes | None) -> bytes | None:
    return data if text is None else text.encode()
