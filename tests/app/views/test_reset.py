"""The page Reset offsets: its choices in the URL, the plan it shows, and how it is applied."""

from contextlib import suppress
from dataclasses import replace
from typing import Any, get_args

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from streamlit.testing.v1 import AppTest

from app.server.access.visitor import Grant, Role, Visitor
from app.server.source import Source
from app.ui import formats
from app.views.reset import tables
from app.views.reset.link import WAYS, Choice
from assignors.model import TopicPartition
from lag.errors import ConfigError
from lag.model import GroupType
from lag.reset.asked.specification import Earliest, Shift, Specification
from lag.reset.model import Action, Kind, PartitionPlan, Plan
from tests.app.conftest import Open
from tests.app.reading import asked, said, table, title

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


def with_plan(page: AppTest, plan: Plan = PLAN) -> AppTest:
    page.session_state["_reset_plan"] = ("demo", plan)
    return page.run()


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


@pytest.mark.parametrize("wrong", [{"to": "nowhere"}, {"value": "1e999"}, {"topics": "(" * 3000}, {"to": "\x00"}])
def test_a_wrong_link_fails_no_page(open_page: Open, wrong: dict[str, str]) -> None:
    page = open_page("reset", group="billing", **wrong)
    assert not page.exception


def test_a_plan_shows_totals_rows_and_the_command_to_apply(open_page: Open) -> None:
    page = with_plan(open_page("reset", group="billing"))
    assert not page.exception
    assert formats.md("Changes 1 of 2 partitions of group billing: 5 records read again, 0 skipped.") in said(page)
    assert formats.md("orders-1: the partition has no leader") in said(page)
    rows = table(page, "committed offset before and after")
    assert [None if pd.isna(to) else to for to in rows["to"]] == [2, None]
    assert any("groupscope reset apply plan.json --allow-writes" in code.value for code in page.code)
    assert [button.key for button in page.button if button.key == "reset_apply"] == []


def test_a_plan_of_another_group_is_not_shown(open_page: Open) -> None:
    assert "Changes 1 of 2" not in said(with_plan(open_page("reset", group="shipping")))


def test_a_server_that_may_write_asks_for_the_name(open_page: Open, demo_source: Any) -> None:
    writes = replace(demo_source, settings=demo_source.settings.model_copy(update={"allow_writes": True}))
    page = with_plan(open_page("reset", its=writes, group="billing"))
    assert page.button(key="reset_apply").disabled
    page.text_input(key="reset_confirm").set_value("billing").run()
    assert not page.button(key="reset_apply").disabled


def as_visitor(its: Source, role: Role) -> Source:
    writes = replace(its, settings=its.settings.model_copy(update={"allow_writes": True}))
    return replace(writes, visitor=Visitor("vera@example.com", "10.0.0.7", (Grant(role, groups=("billing",)),)))


def test_a_viewer_is_not_offered_to_apply_a_plan(open_page: Open, demo_source: Any) -> None:
    page = with_plan(open_page("reset", its=as_visitor(demo_source, Role.VIEWER), group="billing"))
    assert not page.exception
    assert "To apply it here takes the role operator for this group." in said(page)
    assert [button.key for button in page.button if button.key == "reset_apply"] == []
    page = with_plan(open_page("reset", its=as_visitor(demo_source, Role.OPERATOR), group="billing"))
    assert page.button(key="reset_apply").disabled


@pytest.mark.parametrize("link", [{"group": "payroll"}, {"group": "billing", "to": "group", "value": "payroll"}])
def test_no_plan_is_made_for_or_from_a_group_that_the_roles_do_not_cover(
    open_page: Open, demo_source: Any, link: dict[str, str]
) -> None:
    page = open_page("reset", its=as_visitor(demo_source, Role.OPERATOR), **link)
    page.button(key="reset_plan").click().run()
    assert not page.exception
    assert "Your roles do not cover group payroll" in said(page)


@given(st.sampled_from(sorted(WAYS)), st.text(max_size=20))
def test_any_value_is_a_specification_or_a_config_error(way: str, value: str) -> None:
    found: object = None
    with suppress(ConfigError):
        found = Choice("billing", way, value, ()).specification(0)
    assert found is None or isinstance(found, get_args(Specification))


def test_values_are_read() -> None:
    assert Choice("billing", "shift", "-5", ()).specification(0) == Shift(-5)
    assert Choice("billing", "shift", "0", ()).specification(0) == Shift(0)
    assert Choice("billing", "earliest", "", ()).specification(0) == Earliest()


def test_the_tables_have_a_row_for_each_partition() -> None:
    assert tables.plan_frame(PLAN)["remark"].tolist() == ["", "the partition has no leader"]
    row = {"topic": "orders", "partition": 0, "outcome": "not_done", "from": 7, "to": 2, "now": 7, "error": None}
    assert tables.result_frame({"partitions": [row]})["result"].tolist() == ["at the old offset"]
