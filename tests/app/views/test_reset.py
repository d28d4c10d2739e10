"""The page Reset offsets: its choices in the URL, the plan it shows, and how it is applied."""

from contextlib import suppress
from dataclasses import replace
from typing import Any, get_args

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from streamlit.testing.v1 import AppTest

from app.documents.reset import applied_document
from app.server.access.visitor import Grant, Role, Visitor
from app.server.reset_task import Asked, FileRequest, GroupDeletion, MemberRemoval
from app.server.source import Source
from app.ui import formats
from app.views.reset import runs, tables
from app.views.reset.link import WAYS, Choice, File
from app.views.reset.runs import MadePlan
from assignors.model import TopicPartition
from lag.errors import ConfigError
from lag.model import GroupType
from lag.reset.applying.apply import Applied
from lag.reset.applying.undo import undo_plan
from lag.reset.applying.verify import Outcome as ResetOutcome
from lag.reset.applying.verify import PartitionResult, overwritten
from lag.reset.asked.specification import (
    Current,
    Delete,
    Earliest,
    Exact,
    FromGroup,
    Latest,
    Shift,
    Skip,
    SkippedRecords,
    Time,
)
from lag.reset.model import Action, Kind, PartitionPlan, Plan, RecordHead
from lag.reset.planning.make_plan import Request
from tests.app import synthetic
from tests.app.conftest import Open
from tests.app.reading import asked, page_text, table, title

PLAN = Plan(
    Kind.OFFSETS, "c", "billing", GroupType.CLASSIC, 0, "Empty", None, (), "to earliest",
    (
        PartitionPlan(
            *(TopicPartition("orders", 0), Action.SET, 7, 2), log_end=10, last_stable=10, read_again=5, skipped=0
        ),
        PartitionPlan(TopicPartition("orders", 1), Action.NONE, reason="the partition has no leader"),
    ),
    "kafka-consumer-groups --group billing",
)  # fmt: skip
STATIC = next(spec for spec in synthetic.specs() if len([m for m in spec.members if m.instance_id]) > 1)
"""A group of static members."""


def with_plan(page: AppTest, plan: Plan = PLAN, choice: Choice | None = None) -> AppTest:
    page.session_state["_reset_plan"] = MadePlan("demo", plan, choice)
    return page.run()


def may_write(its: Source) -> Source:
    return replace(its, settings=its.settings.model_copy(update={"allow_writes": True}))


def keys(page: AppTest) -> set[str]:
    return {str(button.key) for button in page.button}


def test_a_link_with_a_text_that_is_too_long_plans_nothing(open_page: Open) -> None:
    """A part of it would name another partition: of `orders:12`, `orders:1`."""
    topics = f"{'x ' * 996} orders:12"
    page = open_page("reset", group="billing", topics=topics)
    assert not page.exception
    assert "is not a text of at most 2,000 characters" in page_text(page)
    assert (page.button(key="reset_plan").disabled, page.text_input(key="reset_topics").value) == (True, "")


def test_without_a_group_it_asks_for_one(open_page: Open) -> None:
    page = open_page("reset")
    assert not page.exception
    assert title(page) == "Choose a group to reset its offsets"
    assert page.button(key="reset_plan").disabled


def test_the_choices_are_in_the_url(open_page: Open) -> None:
    page = open_page("reset", group="billing", to="shift", value="-5", topics="orders:0,1 pay.*")
    assert page.text_input(key="reset_value").value == "-5"
    page.text_input(key="reset_topics").set_value("orders").run()
    assert asked(page)["topics"] == "orders"
    assert asked(page)["to"] == "shift"


@pytest.mark.parametrize("name", ["topics", "value"])
def test_a_link_with_too_long_a_text_is_left_by_choosing_a_group(open_page: Open, name: str) -> None:
    page = open_page("reset", group="billing", to="shift", **{name: "x" * 2_001})
    assert page.button(key="reset_plan").disabled
    page.selectbox(key="reset_group").select("dlq-replayer").run()
    assert not page.button(key="reset_plan").disabled
    assert (asked(page)["group"], asked(page).get(name)) == ("dlq-replayer", None)


@pytest.mark.parametrize("wrong", [{"to": "nowhere"}, {"value": "1e999"}, {"topics": "(" * 3000}, {"to": "\x00"}])
def test_a_wrong_link_fails_no_page(open_page: Open, wrong: dict[str, str]) -> None:
    page = open_page("reset", group="billing", **wrong)
    assert not page.exception


def test_a_plan_shows_totals_rows_and_the_command_to_apply(open_page: Open) -> None:
    page = with_plan(open_page("reset", group="billing"))
    assert not page.exception
    assert formats.md("Changes 1 of 2 partitions of group billing: 5 records read again, 0 skipped.") in page_text(page)
    assert formats.md("orders-1: the partition has no leader") in page_text(page)
    rows = table(page, "committed offset before and after")
    assert [None if pd.isna(to) else to for to in rows["to"]] == [2, None]
    assert any("groupscope reset apply plan.json --allow-writes" in code.value for code in page.code)
    assert "reset_apply" not in keys(page)


def test_a_plan_of_another_group_is_not_shown(open_page: Open) -> None:
    assert "Changes 1 of 2" not in page_text(with_plan(open_page("reset", group="shipping")))


def test_a_server_that_may_write_asks_for_the_name(open_page: Open, demo_source: Any) -> None:
    page = with_plan(open_page("reset", its=may_write(demo_source), group="billing"))
    assert page.button(key="reset_apply").disabled
    page.text_input(key="reset_confirm_0").set_value("billing").run()
    assert not page.button(key="reset_apply").disabled


def as_visitor(its: Source, role: Role) -> Source:
    return replace(may_write(its), visitor=Visitor("vera@example.com", "10.0.0.7", (Grant(role, groups=("billing",)),)))


def test_a_viewer_is_not_offered_to_apply_a_plan(open_page: Open, demo_source: Any) -> None:
    page = with_plan(open_page("reset", its=as_visitor(demo_source, Role.VIEWER), group="billing"))
    assert not page.exception
    assert "Applying the plan here requires the operator role for this group." in page_text(page)
    assert "reset_apply" not in keys(page)
    page = with_plan(open_page("reset", its=as_visitor(demo_source, Role.OPERATOR), group="billing"))
    assert page.button(key="reset_apply").disabled


@pytest.mark.parametrize("link", [{"group": "payroll"}, {"group": "billing", "to": "group", "value": "payroll"}])
def test_no_plan_is_made_for_or_from_a_group_that_the_roles_do_not_cover(
    open_page: Open, demo_source: Any, link: dict[str, str]
) -> None:
    page = open_page("reset", its=as_visitor(demo_source, Role.OPERATOR), **link)
    page.button(key="reset_plan").click().run()
    assert not page.exception
    assert "Your roles do not cover group payroll" in page_text(page)


@pytest.mark.parametrize(
    ("role", "shown"), [(Role.VIEWER, False), (Role.OPERATOR, True), (Role.ADMIN, True), (None, True)]
)
def test_only_operators_ask_for_the_records_that_a_plan_skips(
    open_page: Open, demo_source: Any, monkeypatch: pytest.MonkeyPatch, role: Role | None, shown: bool
) -> None:
    started: list[Any] = []
    monkeypatch.setattr(runs, "ResetRun", lambda task, _on_end: started.append(task))
    its = demo_source if role is None else as_visitor(demo_source, role)
    page = open_page("reset", its=its, group="billing", to="skip", value="orders:3:7")
    page.button(key="reset_plan").click().run()
    (task,) = started
    assert task.request == Request("billing", Skip((SkippedRecords(TP, 7, 7),)), with_records=shown)


@given(st.sampled_from(sorted(WAYS)), st.text(max_size=20))
def test_any_value_can_be_planned_or_is_a_config_error(way: str, value: str) -> None:
    found: object = None
    with suppress(ConfigError):
        found = Choice("billing", way, value, ()).asked(0)
    assert found is None or isinstance(found, get_args(Asked))


TP = TopicPartition("orders", 3)


@pytest.mark.parametrize(
    ("choice", "wanted"),
    [
        (("earliest", "", ()), Request("billing", Earliest(), all_topics=True)),
        (("current", "", ()), Request("billing", Current(), all_topics=True)),
        (("latest", "", ("orders:0,1",)), Request("billing", Latest(), ("orders:0,1",))),
        (("shift", "-5", ()), Request("billing", Shift(-5), all_topics=True)),
        (("shift", "0", ()), Request("billing", Shift(0), all_topics=True)),
        (("offset", "0", ()), Request("billing", Exact(0), all_topics=True)),
        (("time", "1795600800000", ()), Request("billing", Time(1_795_600_800_000), all_topics=True)),
        (("back", "1s", ()), Request("billing", Time(9_000, 1_000), all_topics=True)),
        (("group", "shipping", ()), Request("billing", FromGroup("shipping"))),
        (("skip", "orders:3:7", ("pay",)), Request("billing", Skip((SkippedRecords(TP, 7, 7),)))),
        (("delete", "", ("returns",)), Request("billing", Delete(), ("returns",))),
        (("delete-group", "", ()), GroupDeletion("billing")),
        (("remove-member", "pod-2", ()), MemberRemoval("billing", "pod-2")),
        (("file", "", (), File("o.csv", b"orders,0,1")), FileRequest("billing", "o.csv", b"orders,0,1")),
    ],
)
def test_each_change_is_asked_for(choice: Any, wanted: object) -> None:
    assert Choice("billing", *choice).asked(10_000) == wanted


@pytest.mark.parametrize("way", ["time", "back", "shift", "offset", "group", "skip", "remove-member", "file"])
def test_a_change_without_its_value_is_refused(open_page: Open, way: str) -> None:
    page = open_page("reset", group="billing-settlement", to=way)
    page.button(key="reset_plan").click().run()
    assert not page.exception
    assert (" is missing" in page_text(page)) != (way == "file")
    assert ("No file is chosen" in page_text(page)) == (way == "file")


def test_a_time_in_seconds_is_asked_about(open_page: Open) -> None:
    page = open_page("reset", group="billing-settlement", to="time", value="1700000000")
    page.button(key="reset_plan").click().run()
    assert not page.exception
    shown = page_text(page).replace("\\", "")
    assert "Is 1700000000 in seconds? In milliseconds it is 1970-01-20T16:13:20.000Z.]" in shown
    assert "Write 2023-11-14T22:13:20.000Z or 1700000000000 if it is in seconds" in shown


def test_another_change_clears_the_value(open_page: Open) -> None:
    page = open_page("reset", group="billing", to="shift", value="-100")
    page.selectbox(key="reset_to").select("offset").run()
    assert asked(page) == {"group": "billing", "to": "offset"}
    assert page.text_input(key="reset_value").value == ""


def test_an_uploaded_file_is_part_of_the_choice(open_page: Open) -> None:
    page = open_page("reset", group="billing", to="file")
    choice = Choice("billing", "file", "", (), File("o.csv", b"orders,0,1"))
    uploader: Any = page.get("file_uploader")[0]
    page = with_plan(uploader.set_value(("o.csv", b"orders,0,1", "text/csv")).run(), choice=choice)
    assert not page.exception
    assert "The choices have changed" not in page_text(page)


def test_a_static_member_is_chosen_among_those_of_the_group(open_page: Open, demo_source: Any) -> None:
    page = open_page("reset", group=STATIC.group_id, to="remove-member")
    options = page.selectbox(key="reset_member").options
    assert options == sorted(str(member.instance_id) for member in STATIC.members)
    page.selectbox(key="reset_member").select(options[1]).run()
    assert asked(page)["value"] == options[1]
    none = open_page("reset", group="dlq-replayer", to="remove-member")
    assert none.selectbox(key="reset_member").disabled


def test_a_plan_of_earlier_choices_is_not_applied(open_page: Open, demo_source: Any) -> None:
    page = open_page("reset", its=may_write(demo_source), group="billing", to="latest")
    page = with_plan(page, choice=Choice("billing", "earliest", "", ()))
    assert "The choices have changed since this plan was made" in page_text(page)
    assert "reset_apply" not in keys(page)
    page = with_plan(page, choice=Choice("billing", "latest", "", ()))
    assert "reset_apply" in keys(page)


@pytest.mark.parametrize(
    ("kind", "label", "warned", "done"),
    [
        (Kind.DELETE_GROUP, "Delete the group", "Its undo plan commits these offsets again", "no longer exists"),
        (Kind.REMOVE_MEMBER, "Remove the member", "There is no undo", "is no longer in the group"),
    ],
)
def test_a_group_or_member_is_removed_by_typing_the_name(
    open_page: Open, demo_source: Any, kind: Kind, label: str, warned: str, done: str
) -> None:
    rows = (PartitionPlan(TopicPartition("orders", 0), Action.DELETE, 7, log_end=10, topic_id="t"),)
    is_deletion = kind is Kind.DELETE_GROUP
    plan = replace(PLAN, kind=kind, partitions=rows if is_deletion else (), instance_id=None if is_deletion else "pod")
    page = with_plan(open_page("reset", its=may_write(demo_source), group="billing"), plan)
    assert warned in page_text(page)
    assert page.button(key="reset_apply").label == label
    page.text_input(key="reset_confirm_0").set_value("billing").run()
    assert not page.button(key="reset_apply").disabled
    page.session_state["_reset_result"] = {"done": True, "error": None, "partitions": []}
    assert done in page_text(page.run())
    assert not page.exception


def test_the_records_to_skip_are_shown_without_their_values(open_page: Open) -> None:
    record = RecordHead(7, 9 * 10**15, b"k7", (("source", b"test"),), 1200, b"secret")
    row = PartitionPlan(TopicPartition("orders", 0), Action.SET, 7, 8, records=(record,))
    page = with_plan(open_page("reset", group="billing"), replace(PLAN, partitions=(row,)))
    assert not page.exception
    (shown,) = table(page, "records to skip").to_dict("records")
    assert shown == {
        "topic": "orders",
        "partition": 0,
        "offset": 7,
        "time": "9000000000000000 ms",
        "key": "k7",
        "headers": "source=test",
        "size": "1,200 bytes",
    }


def downloads(page: AppTest) -> list[str]:
    buttons: list[Any] = list(page.get("download_button"))
    return [button.label for button in buttons]


def test_plan_and_undo_plan_can_be_downloaded(open_page: Open) -> None:
    page = with_plan(open_page("reset", group="billing"))
    assert downloads(page) == ["Plan (JSON)", "Offsets (CSV)", "Undo plan (JSON)", "Undo offsets (CSV)"]
    undo = undo_plan(PLAN, 0)
    assert undo is not None
    assert downloads(with_plan(page, undo)) == ["Undo plan (JSON)", "Undo offsets (CSV)"]


def test_the_tables_have_a_row_for_each_partition() -> None:
    assert tables.plan_frame(PLAN.partitions)["remark"].tolist() == ["", "the partition has no leader"]
    row = {"topic": "orders", "partition": 0, "outcome": "not_done", "from": 7, "to": 2, "now": 7, "error": None}
    deleted = {**row, "outcome": "done", "to": None, "now": None}
    written = {**row, "outcome": "overwritten", "now": 4_711}
    shown = tables.result_frame([row, deleted, written])["result"].tolist()
    assert shown == [
        "at the old offset",
        "offset deleted",
        "written, but now at 4,711: something else committed it",
    ]


def test_a_plan_that_something_else_has_overwritten_is_not_done(open_page: Open) -> None:
    found = PartitionResult(TopicPartition("orders", 0), ResetOutcome.OVERWRITTEN, 7, 2, 4_711)
    result = applied_document(Applied(PLAN, 0, (found,), overwritten([found])), None, None)
    assert (result["done"], result["error"]) == (
        False,
        "orders-0: written, but now at 4,711: something else committed it",
    )
    page = with_plan(open_page("reset", group="billing"))
    page.session_state["_reset_result"] = result
    shown = page_text(page.run()).replace("\\", "")
    assert "The plan was not fully applied" in shown
    assert "orders-0: written, but now at 4,711: something else committed it" in shown
    assert "0 of 1 partition at the new offset" in shown
