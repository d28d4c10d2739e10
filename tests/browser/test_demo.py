"""The dashboard on a real Kafka: what `make run` shows, looked at in Chromium, every page at two sizes."""

import csv
import io
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Locator, Page, ViewportSize, expect

from app.ui import verdicts
from lag.embedded.workload import describe
from lag.errors import GroupscopeError
from lag.verdict.catalogue import VERDICTS
from tests.browser.conftest import DESKTOP, PATIENCE_MS, PHONE, Open, step_by_key
from tests.conftest import Demo
from tests.support.demo_groups import PROBLEMS
from tests.support.waiting import wait_until

pytestmark = [pytest.mark.browser, pytest.mark.broker]

GROUPSCOPE = str(Path(sys.executable).with_name("groupscope"))
SETTLED_WITHIN_MS = 240_000
SIZES = pytest.mark.parametrize("size", [DESKTOP, PHONE], ids=["1440", "390"])
CASES = {case.group_id: case for case in describe()}


@pytest.fixture(scope="module")
def dashboard_url(demo: Demo) -> Iterator[str]:
    """`groupscope serve` on the demo cluster, with its panel."""
    command = [GROUPSCOPE, "serve", "--bootstrap-server", demo.kafka.bootstrap_servers, "--interval", "3"]
    env = {**os.environ, **demo.workload.controls.environment}
    with subprocess.Popen([*command, "--port", "0", "--json"], stdout=subprocess.PIPE, env=env, text=True) as server:
        assert server.stdout is not None
        yield json.loads(server.stdout.readline())["dashboard"]
        server.terminate()


@pytest.fixture(scope="module")
def settled(chromium: Browser, dashboard_url: str) -> None:
    """Verdicts on movement need a minute of polls: wait until every case shows what it should."""
    page = chromium.new_page()
    page.goto(dashboard_url + "/demo")
    everything = f"{len(CASES)} of {len(CASES)} demo groups have the expected verdict"
    expect(page.locator("h1")).to_contain_text(everything, timeout=SETTLED_WITHIN_MS)
    page.close()


@pytest.fixture(scope="module")
def group_page(chromium: Browser, dashboard_url: str, settled: None) -> Iterator[Callable[[str], Page]]:
    """The Group page, in one tab for all groups. At the end it may not have complained."""
    page, complaints = chromium.new_page(viewport=DESKTOP), []
    page.set_default_timeout(PATIENCE_MS)
    page.on("console", lambda m: complaints.append(m.text) if m.type in {"error", "warning"} else None)
    page.on("pageerror", lambda error: complaints.append(str(error)))

    def opened(group_id: str) -> Page:
        page.goto(f"{dashboard_url}/group?group={group_id}")
        return page

    yield opened
    page.close()
    assert complaints == []


def cell(page: Page, text: str) -> Locator:
    """A cell of a table, as assistive technology sees it (the grid itself is a canvas)."""
    return page.locator('canvas [role="gridcell"]', has_text=text).first


@SIZES
def test_overview_counts_every_verdict_of_the_demo(open_page: Open, settled: None, size: ViewportSize) -> None:
    page = open_page("/", viewport=size)
    expect(page.locator("h1")).to_contain_text(f"of {len(CASES)} groups need attention")
    for status in {case.status for case in CASES.values()}:
        expect(page.get_by_text(VERDICTS[status].label).first).to_be_attached()
    for group_id in ("loyalty-points", "shipment-tracking", "audit-archive"):
        expect(cell(page, group_id)).to_be_attached()


@pytest.mark.parametrize("group_id", CASES)
def test_group_page_says_its_verdict_in_words(group_page: Callable[[str], Page], group_id: str) -> None:
    page = group_page(group_id)
    verdict = VERDICTS[CASES[group_id].status]
    expect(page.locator("h1")).to_contain_text(group_id)
    expect(page.get_by_text(verdict.label).first).to_be_visible()
    problem = PROBLEMS[group_id]
    if problem is not None:
        expect(cell(page, verdicts.problem(problem))).to_be_attached()
    expect(page.get_by_test_id("stException")).to_have_count(0)


def test_group_page_explains_a_lag_that_is_only_a_transaction_marker(open_page: Open, settled: None) -> None:
    page = open_page("/group?group=settlement-reporting")
    expect(cell(page, "only transaction markers or aborted records are left")).to_be_attached(timeout=60_000)


def test_group_page_reads_on_a_phone(open_page: Open) -> None:
    page = open_page("/group?group=shipment-tracking", viewport=PHONE)
    expect(page.locator("h1")).to_contain_text("shipment-tracking")
    expect(page.get_by_text("Partitions").first).to_be_visible()


@SIZES
def test_generations_shows_the_rebalances_that_formed_a_group(open_page: Open, size: ViewportSize) -> None:
    page = open_page("/generations?group=clickstream-sessions&gen=1", viewport=size)
    expect(page.locator("h1")).to_contain_text("clickstream-sessions-")
    expect(page.locator("h1")).to_contain_text("joined; 8 of 8 partitions assigned")
    expect(page.get_by_text(", recorded in").first).to_be_visible()
    expect(page.get_by_text("took").first).to_be_visible()


@SIZES
def test_topics_names_a_topic_its_slowest_group_and_a_deleted_one(open_page: Open, size: ViewportSize) -> None:
    page = open_page("/topics", viewport=size)
    for text in ("orders", "crm-contacts"):
        expect(cell(page, text)).to_be_attached()


@SIZES
def test_about_names_the_broker_and_what_it_was_asked(open_page: Open, demo: Demo, size: ViewportSize) -> None:
    page = open_page("/about", viewport=size)
    expect(page.locator("h1")).to_contain_text("is complete")
    expect(page.get_by_text("bootstrap.servers")).to_be_visible()
    if size == DESKTOP:  # a table has cells only where they are on the screen
        expect(cell(page, demo.kafka.bootstrap_servers)).to_be_attached()
        expect(cell(page, "4.3")).to_be_attached()


@SIZES
def test_demo_panel_makes_kafka_do_something(open_page: Open, size: ViewportSize) -> None:
    page = open_page("/demo", viewport=size)
    page.get_by_role("button", name="+ 1,000 records").click()
    expect(page.get_by_text("1,000").nth(1)).to_be_visible()


@pytest.fixture
def two_more(demo: Demo) -> Iterator[str]:
    """A group to which two members may be added; they are gone afterwards."""
    group = "order-fulfilment"
    yield group
    for number in (4, 5):
        with suppress(GroupscopeError):
            demo.workload.controls.kill_member(f"{group}-{number}")
    wait_until(lambda: members(demo, group) == [f"{group}-{number}" for number in (1, 2, 3)], within_s=60, every_s=1)


def members(demo: Demo, group: str) -> list[str]:
    """The client ids of a group's members, as the broker lists them."""
    return sorted(member["client_id"] for member in reported_members(demo, group))


def is_member(demo: Demo, group: str, name: str) -> bool:
    return name in members(demo, group)


def assigned(demo: Demo, group: str) -> dict[tuple[str, int], str]:
    """Who has which partition, as the broker lists it."""
    found = reported_members(demo, group)
    return {(topic, partition): member["client_id"] for member in found for topic, partition in member["assigned"]}


def reported_members(demo: Demo, group: str) -> list[dict[str, Any]]:
    command = [GROUPSCOPE, "snapshot", "--bootstrap-server", demo.kafka.bootstrap_servers, "--group", group, "--json"]
    reported = json.loads(subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout)
    return list(reported["groups"][0]["members"])


def test_two_members_added_go_where_the_what_if_said(open_page: Open, demo: Demo, two_more: str) -> None:
    group, short = two_more, two_more.removeprefix("order-")  # the word that all its members share
    page = open_page(f"/group?group={group}")
    page.get_by_role("button", name="What if…").click()
    page.get_by_label("How many").fill("2")
    page.get_by_label("How many").press("Enter")
    page.get_by_role("button", name="Add", exact=True).click()
    expect(page.locator("h1")).to_contain_text(f"{short}-4 joins, {short}-5 joins:")
    step_by_key(page, "Next")
    expect(page.get_by_text(f"{short}-5 joins;").first).to_be_visible()
    predicted = {(row["topic"], int(row["partition"])): row["member"] for row in downloaded_csv(page, whole_plan(page))}
    assert len(predicted) == 6

    panel = open_page("/demo")
    for number in (4, 5):
        panel.get_by_role("button", name="Add a member").click()
        expect(panel.get_by_text(f"{group}-{number} is starting").first).to_be_visible()
        wait_until(partial(is_member, demo, group, f"{group}-{number}"), within_s=90, every_s=1)
    wait_until(lambda: assigned(demo, group) == predicted, within_s=60, every_s=1)
    seen = open_page(f"/group?group={group}")
    expect(seen.locator("canvas").nth(0)).to_be_attached()
    expect(seen.get_by_text(f"{short}-5").first).to_be_attached(timeout=60_000)
    wait_until(lambda: owners(seen) == predicted, within_s=60, every_s=10)  # the page's own poll may be older
    expect(seen.get_by_text("recorded; ").first).to_be_visible()
    seen.get_by_role("button", name="Generations").click()
    expect(seen.locator("h1")).to_contain_text(f"{short}-5 joined")
    recorded = {(row["topic"], int(row["partition"])): row["member"] for row in downloaded_csv(seen, whole_plan(seen))}
    assert recorded == predicted


def whole_plan(page: Page) -> Locator:
    return page.get_by_role("button", name="Assignment", exact=True)


def downloaded_csv(page: Page, button: Locator) -> list[dict[str, str]]:
    """The rows of a file that a button offers."""
    with page.expect_download() as download:
        button.click()
    return list(csv.DictReader(io.StringIO(Path(download.value.path()).read_text())))


def owners(page: Page) -> dict[tuple[str, int], str]:
    """Who has which partition, as the Group page shows it."""
    offered = page.locator(".st-key-partitions_csv").get_by_role("button")
    return {(row["topic"], int(row["partition"])): row["owner"] for row in downloaded_csv(page, offered)}
