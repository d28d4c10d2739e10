"""A plan is read from its file as it was written, JSON and YAML; what is wrong is named."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assignors.model import TopicPartition
from lag.errors import ConfigError
from lag.model import GroupType
from lag.reset.files.plan_document import plan_document, plan_text
from lag.reset.files.plan_file import load_plan, plan_from_document, write_new
from lag.reset.model import Action, Kind, PartitionPlan, Plan, PlannedMember, RecordHead

TEXTS = st.text(st.characters(codec="utf-8"), max_size=8)
OFFSETS = st.none() | st.integers(0, 2**63 - 1)
TIMES = st.integers(-(2**63), 2**63 - 1) | st.integers(0, 4_000_000_000_000)
"""A producer can give a record any time of 64 bits."""
HEADS = st.builds(
    RecordHead,
    offset=st.integers(0, 2**63 - 1),
    timestamp_ms=TIMES,
    key=st.none() | st.binary(max_size=6),
    headers=st.lists(st.tuples(TEXTS, st.none() | TEXTS.map(str.encode)), max_size=2).map(tuple),
    value_bytes=st.none() | st.integers(0, 10**9),
    value=st.none() | st.binary(max_size=6),
)
TPS = st.builds(TopicPartition, st.from_regex(r"[a-zA-Z0-9._-]{1,9}", fullmatch=True), st.integers(0, 9))


@st.composite
def rows(draw: st.DrawFn, tp: TopicPartition) -> PartitionPlan:
    action = draw(st.sampled_from(Action))
    return PartitionPlan(
        tp,
        action,
        from_offset=draw(OFFSETS),
        to_offset=draw(st.integers(0, 2**63 - 1)) if action is Action.SET else None,
        from_metadata=draw(TEXTS),
        asked_offset=draw(st.none() | st.integers(-(2**63), 2**63 - 1)),
        topic_is_gone=draw(st.booleans()),
        log_end=draw(OFFSETS),
        from_ms=draw(st.none() | TIMES),
        read_again=draw(OFFSETS),
        gaps=draw(OFFSETS),
        reason=draw(TEXTS),
        notes=tuple(draw(st.lists(TEXTS, max_size=2))),
        records=tuple(draw(st.lists(HEADS, max_size=2))),
    )


@st.composite
def plans(draw: st.DrawFn) -> Plan:
    return Plan(
        kind=draw(st.sampled_from((Kind.OFFSETS, Kind.DELETE_GROUP))),
        cluster_id=draw(st.none() | TEXTS),
        group_id=draw(TEXTS.filter(bool)),
        group_type=draw(st.none() | st.sampled_from(GroupType)),
        made_at_ms=draw(TIMES),
        state=draw(TEXTS),
        epoch=draw(st.none() | st.integers(0, 100)),
        members=tuple(draw(st.lists(st.builds(PlannedMember, TEXTS, TEXTS, TEXTS, st.none() | TEXTS), max_size=2))),
        specification=draw(TEXTS),
        partitions=tuple(draw(rows(tp)) for tp in draw(st.lists(TPS, unique=True, max_size=3))),
        undoes=draw(st.none() | TEXTS),
    )


@given(plans())
def test_a_plan_is_read_as_it_was_written(plan: Plan) -> None:
    assert plan_from_document(json.loads(plan_text(plan))) == plan


@pytest.mark.parametrize("name", ["plan.json", "plan.yaml"])
def test_a_file_is_read_as_it_was_written_and_only_its_owner_may_read_it(tmp_path: Path, name: str) -> None:
    file = tmp_path / name
    plan = an_example()
    write_new(file, plan_text(plan, as_yaml=name.endswith("yaml")))
    assert load_plan(file) == plan
    assert file.stat().st_mode & 0o777 == 0o600


def an_example() -> Plan:
    row = PartitionPlan(TopicPartition("orders", 0), Action.SET, 4, 0, from_metadata="on: 1", read_again=4, skipped=0)
    return Plan(Kind.OFFSETS, "c1", "no", GroupType.CLASSIC, 1_000, "Empty", None, (), "to earliest", (row,))


def test_a_file_is_never_overwritten(tmp_path: Path) -> None:
    file = tmp_path / "plan.json"
    file.write_text("mine")
    with pytest.raises(ConfigError, match="already exists"):
        write_new(file, "other")
    assert file.read_text() == "mine"


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"to": None}, "`to` is an offset"),
        ({"to": -1}, "partitions"),
        ({"topic": "a/b"}, "partitions"),
        ({"more": 1}, "more"),
    ],
)
def test_a_wrong_row_is_refused_and_named(tmp_path: Path, change: dict[str, object], named: str) -> None:
    document = plan_document(an_example())
    document["partitions"][0] |= change
    (tmp_path / "plan.json").write_text(json.dumps(document, indent=1))
    with pytest.raises(ConfigError, match=named):
        load_plan(tmp_path / "plan.json")


@pytest.mark.parametrize(
    ("head", "named"), [({"key_base64": "abc"}, "key_base64"), ({"key": "\ud800"}, "key: .*not Unicode text")]
)
def test_a_record_whose_key_is_no_bytes_is_refused(tmp_path: Path, head: dict[str, str], named: str) -> None:
    document = plan_document(an_example())
    document["partitions"][0]["records"] = [{"offset": 0, "at": "2026-11-25T10:00:00Z", **head}]
    (tmp_path / "plan.json").write_text(json.dumps(document))
    with pytest.raises(ConfigError, match=named):
        load_plan(tmp_path / "plan.json")
    with pytest.raises(ConfigError, match=named):
        plan_from_document(document)


def test_a_partition_that_is_listed_twice_is_refused() -> None:
    document = plan_document(an_example())
    document["partitions"] *= 2
    with pytest.raises(ConfigError, match="listed twice"):
        plan_from_document(document)


@pytest.mark.parametrize("wrong", ["yesterday", "2026-11-25T10:00:00", "5 s", 5, None, f"{2**63} ms"])
def test_a_time_without_a_zone_and_what_is_no_time_are_refused(wrong: object) -> None:
    document = plan_document(an_example()) | {"made_at": wrong}
    with pytest.raises(ConfigError, match="made_at"):
        plan_from_document(document)


@pytest.mark.parametrize("text", ["", "[]", "{", "null", "schema_version: 2"])
def test_what_is_no_plan_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "plan.yaml").write_text(text)
    with pytest.raises(ConfigError):
        load_plan(tmp_path / "plan.yaml")
