"""A reset in a real Chromium, on a real broker: planned, refused while active, then done, verified and undone."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from lag.cluster.group_client import GroupClient
from lag.embedded.broker import EmbeddedKafka
from tests.app.cli.commandline import running
from tests.browser.conftest import PHONE, Open
from tests.browser.test_pages import no_sideways_scroll
from tests.support.member import Member
from tests.support.reset_cluster import commits, group_client, make_topic, produce, unique
from tests.support.waiting import wait_until

pytestmark = [pytest.mark.browser, pytest.mark.broker, pytest.mark.process]


@dataclass(frozen=True)
class Shop:
    """A topic of two partitions of ten records, the group that has read them, and a dashboard that may write."""

    servers: str
    topic: str
    group: str
    client: GroupClient
    url: str
    undo_folder: Path


@pytest.fixture
def shop(kafka: EmbeddedKafka, tmp_path: Path) -> Iterator[Shop]:
    topic, group = unique("orders"), unique("billing")
    make_topic(kafka.bootstrap_servers, topic, 2)
    produce(kafka.bootstrap_servers, topic, {0: 10, 1: 10})
    undo = tmp_path / "undo"
    options = ("--port", "0", "--no-browser", "--no-follow", "--interval", "1", "--json", "--allow-writes")
    with (
        group_client(kafka.bootstrap_servers) as client,
        running(
            tmp_path,
            "serve",
            "--bootstrap-server",
            kafka.bootstrap_servers,
            *options,
            env={"GROUPSCOPE_UNDO_FOLDER": str(undo)},
        ) as server,
    ):
        client.commit(group, commits(topic, {0: 10, 1: 10}))
        url = server.first_line()["dashboard"]
        yield Shop(kafka.bootstrap_servers, topic, group, client, url, undo)


def planned(page: Page, headline: str = "Changes 2 of 2 partitions") -> Page:
    page.get_by_role("button", name="Make the plan").click()
    expect(page.get_by_text(headline).first).to_be_visible()
    return page


def undo_planned(page: Page) -> None:
    page.get_by_role("button", name="Plan the undo").click()
    expect(page.get_by_role("heading", name="Undo plan")).to_be_visible()


def downloaded(page: Page, button: str) -> str:
    with page.expect_download() as download:
        page.get_by_role("button", name=button, exact=True).click()
    return Path(download.value.path()).read_text()


def applied(page: Page, shop: Shop, button: str) -> None:
    its = page.get_by_role("button", name=button, exact=True)
    expect(its).to_be_visible()  # a field that was there before it may be that of the plan before
    field = page.get_by_label(f"Type {shop.group} to confirm")
    expect(field).to_have_count(1)
    field.fill(shop.group)
    field.press("Enter")
    expect(its).to_be_enabled()
    its.click()


def test_planned_refused_while_active_done_verified_and_undone(shop: Shop, open_page: Open) -> None:
    member = Member(shop.servers, shop.group, [shop.topic], {"client.id": "worker-1"})
    try:
        wait_until(lambda: len(member.held) == 2, 120)
        page = open_page(f"/reset?group={shop.group}&to=shift&value=-4", url=shop.url)
        expect(page.locator("h1")).to_contain_text(f"Reset the offsets of {shop.group}")
        planned(page)
        expect(page.get_by_text("8 records read again, 0 skipped").first).to_be_visible()
        expect(page.get_by_text("worker-1 at").first).to_be_visible()
        applied(page, shop, "Apply")
        expect(page.get_by_text("Refused: nothing was written.")).to_be_visible()
        expect(page.get_by_text("Stop these processes")).to_be_visible()
        assert shop.client.commits(shop.group) == commits(shop.topic, {0: 10, 1: 10})
    finally:
        member.leave()
    wait_until(lambda: not shop.client.read(shop.group, ()).is_active, 60)
    applied(page, shop, "Apply")  # the name is asked for again
    expect(page.get_by_text("Every planned partition is at its new offset")).to_be_visible()
    assert shop.client.commits(shop.group) == commits(shop.topic, {0: 6, 1: 6})
    page.get_by_role("button", name="Verify").click()
    expect(page.get_by_text("2 of 2 partitions at the new offset")).to_be_visible()
    assert len(list(shop.undo_folder.glob("*.undo.csv"))) == 1
    assert sorted(downloaded(page, "Undo offsets (CSV)").split()) == [f"{shop.topic},0,10", f"{shop.topic},1,10"]
    stored = json.loads(downloaded(page, "Undo plan (JSON)"))
    assert (stored["group"], stored["undoes"]) == (shop.group, "shift by -4")

    undo_planned(page)
    applied(page, shop, "Undo")
    expect(page.get_by_text("Every planned partition is at its new offset")).to_be_visible()
    assert shop.client.commits(shop.group) == commits(shop.topic, {0: 10, 1: 10})


def test_an_empty_group_is_deleted_and_its_offsets_come_back(shop: Shop, open_page: Open) -> None:
    page = planned(open_page(f"/reset?group={shop.group}&to=delete-group", url=shop.url), "Deletes group")
    applied(page, shop, "Delete the group")
    expect(page.get_by_text("no longer exists")).to_be_visible()
    assert shop.client.read(shop.group, ()).type is None
    assert sorted(downloaded(page, "Undo offsets (CSV)").split()) == [f"{shop.topic},0,10", f"{shop.topic},1,10"]
    page.get_by_role("button", name="Verify").click()
    expect(page.get_by_text("committed offsets deleted in 2 of 2 partitions")).to_be_visible()

    undo_planned(page)
    applied(page, shop, "Undo")
    expect(page.get_by_text("Every planned partition is at its new offset")).to_be_visible()
    assert shop.client.commits(shop.group) == commits(shop.topic, {0: 10, 1: 10})


def test_a_static_member_is_removed(shop: Shop, open_page: Open) -> None:
    group = replace(shop, group=unique("static"))
    member = Member(shop.servers, group.group, [shop.topic], {"group.instance.id": "pod-1"})
    try:
        wait_until(lambda: len(member.held) == 2, 120)
        (before,) = shop.client.read(group.group, ()).members
        page = open_page(f"/reset?group={group.group}&to=remove-member", url=shop.url)
        page.get_by_label("Static member").click()
        page.get_by_role("option", name="pod-1").click()
        expect(page).to_have_url(re.compile("value=pod-1"))
        planned(page, "Removes the static member pod-1")
        applied(page, group, "Remove the member")
        expect(page.get_by_text("is no longer in the group")).to_be_visible()
        assert before.member_id not in {one.member_id for one in shop.client.read(group.group, ()).members}
    finally:
        member.leave()


def test_the_offsets_of_an_uploaded_file(shop: Shop, open_page: Open, tmp_path: Path) -> None:
    page = open_page(f"/reset?group={shop.group}&to=file", url=shop.url)

    def sent(name: str, text: str) -> None:
        (tmp_path / name).write_text(text)
        page.locator("input[type=file]").set_input_files(tmp_path / name)
        expect(page.get_by_text(name).first).to_be_visible()

    sent("wrong.csv", f"{shop.topic},0,3\n{shop.topic},one,4\n")
    page.get_by_role("button", name="Make the plan").click()
    expect(page.get_by_text("wrong.csv, line 2: this is not topic,partition,offset")).to_be_visible()
    sent("right.csv", f"{shop.topic},0,3\n{shop.topic},1,4\n")
    planned(page)
    expect(page.get_by_text("13 records read again, 0 skipped").first).to_be_visible()
    applied(page, shop, "Apply")
    expect(page.get_by_text("Every planned partition is at its new offset")).to_be_visible()
    assert shop.client.commits(shop.group) == commits(shop.topic, {0: 3, 1: 4})


def test_a_plan_on_a_phone(shop: Shop, open_page: Open) -> None:
    page = planned(open_page(f"/reset?group={shop.group}&to=earliest", PHONE, dark=True, url=shop.url))
    expect(page.get_by_text("20 records read again, 0 skipped").first).to_be_visible()
    no_sideways_scroll(page)
