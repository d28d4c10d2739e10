"""Each page in a real Chromium, wide and narrow: what is seen, that links and Back work, that nothing jumps."""

import json
import re
from collections.abc import Callable
from functools import partial

import pytest
from playwright.sync_api import Locator, Page, ViewportSize, WebSocketRoute, expect

from app.pages import BY_NAME
from tests.browser.conftest import DESKTOP, PHONE, Open, step_by_key

pytestmark = pytest.mark.browser
BOTH = pytest.mark.parametrize("viewport", [DESKTOP, PHONE], ids=["1440", "390"])


def cell(page: Page, text: str) -> Locator:
    """A cell of a table, as assistive technology sees it (the grid itself is a canvas)."""
    return page.locator('canvas [role="gridcell"]', has_text=text).first


def click_row(page: Page, row: int) -> None:
    """Click the first cell of that row of the first table."""
    page.locator('[data-testid="stDataFrame"]').first.click(position={"x": 60, "y": 28 + 28 * row + 14})


def no_sideways_scroll(page: Page) -> None:
    wide = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
    assert wide <= 0


def fits(page: Page, table: int = 0) -> bool:
    """Whether all columns of a table are seen without scrolling it sideways."""
    inside = page.locator('[data-testid="stDataFrame"]').nth(table).locator(".dvn-scroller")
    return bool(inside.evaluate("e => e.scrollWidth <= e.clientWidth"))


@BOTH
def test_overview(open_page: Open, viewport: ViewportSize) -> None:
    page = open_page("/", viewport)
    expect(page.locator("h1")).to_contain_text(
        "8 of 30 groups need attention: fraud-scoring-v2 has lag and has not committed"
    )
    expect(page.get_by_text("lag known for 308 of 323 partitions")).to_be_visible()
    expect(page.get_by_text("did not answer within 5 s")).to_be_visible()
    expect(page.get_by_role("button", name="Stalled 1")).to_be_visible()
    expect(page.get_by_placeholder("Group or topic…")).to_be_visible()
    expect(cell(page, "orders-enrichment")).to_be_attached()
    expect(cell(page, "318396")).to_be_attached()
    table = page.locator('[data-testid="stDataFrame"]').first.bounding_box()
    assert table is not None
    assert table["y"] + 28 * 3 < viewport["height"]  # the head and two rows
    assert table["width"] > 158 + 124 + 78  # group, verdict and lag
    assert viewport == PHONE or fits(page)
    pills = page.locator('[data-testid="stButtonGroup"]').first
    assert pills.evaluate("e => [e, ...e.querySelectorAll('*')].every(one => one.scrollWidth <= one.clientWidth + 1)")
    no_sideways_scroll(page)


@BOTH
def test_group(open_page: Open, viewport: ViewportSize) -> None:
    page = open_page("/group?group=billing-settlement", viewport)
    expect(page.locator("h1")).to_contain_text("settle-7c9f-0 has not committed partitions 7 to 9")
    expect(page.get_by_text("□ Stalled").first).to_be_visible()
    expect(page.get_by_text("known for 38 of 40 partitions").first).to_be_visible()
    for alt in ("Partitions 7 to 9 hold 99 % of the lag", "5 members own 40 partitions, 1 owns none"):
        expect(page.get_by_role("figure", name=alt)).to_be_attached()
    expect(page.locator(".js-plotly-plot")).to_have_count(3)
    expect(page.locator('[data-testid="stDataFrame"]')).to_have_count(3)
    no_sideways_scroll(page)


@BOTH
def test_topics(open_page: Open, viewport: ViewportSize) -> None:
    page = open_page("/topics", viewport)
    expect(page.locator("h1")).to_contain_text("1,181,855 records on billing.events")
    expect(cell(page, "payments")).to_be_attached()
    assert viewport == PHONE or fits(page)
    readers, listed = page.locator(".st-key-readers_map_wide"), page.locator(".st-key-readers_map_narrow")
    expect(listed if viewport == PHONE else readers).to_be_visible()
    expect(readers if viewport == PHONE else listed).to_be_hidden()
    no_sideways_scroll(page)


@BOTH
def test_one_topic(open_page: Open, viewport: ViewportSize) -> None:
    page = open_page("/topics?topic=orders", viewport)
    expect(page.locator("h1")).to_contain_text("orders-enrichment is losing records of orders")
    expect(page.get_by_placeholder("Group…")).to_be_visible()
    expect(page.locator('[data-testid="stDataFrame"]')).to_have_count(2)
    no_sideways_scroll(page)


@BOTH
def test_protocol_lab(open_page: Open, viewport: ViewportSize) -> None:
    page = open_page("/protocol?story=stop-the-world", viewport)
    expect(page.locator("h1")).to_contain_text("; cooperative and KIP-848 stop 3 partitions for up to 44.0 s")
    alt = "Members and partitions over time, protocol by protocol: Eager stops all 6 partitions"
    expect(page.get_by_role("figure", name=alt)).to_be_attached()
    expect(page.locator('[data-testid="stDataFrame"]')).to_have_count(2)
    no_sideways_scroll(page)
    page.locator(".st-key-protocol_session").get_by_role("slider").focus()
    page.keyboard.press("ArrowRight")
    expect(page).to_have_url(re.compile(r"session=46000"))


@BOTH
def test_delivery_lab(open_page: Open, viewport: ViewportSize) -> None:
    page = open_page("/delivery", viewport)
    expect(page.locator("h1")).to_have_text("All 5 records are processed twice, none is lost")
    expect(page.get_by_role("figure", name="Ledger of 5 records")).to_be_attached()
    expect(page.locator('[data-testid="stDataFrame"]')).to_have_count(2)
    no_sideways_scroll(page)
    page.get_by_role("button", name="Next").click()
    expect(page.locator("h1")).to_have_text("All 5 records are processed exactly once")
    expect(page).to_have_url(re.compile(r"step=7"))


@BOTH
def test_watermark_lab(open_page: Open, viewport: ViewportSize) -> None:
    page = open_page("/watermark?story=loss&step=7", viewport)
    expect(page.locator("h1")).to_have_text("A consumer sees m0, m1")
    expect(page.get_by_text("B restarts and truncates from 2 to its high watermark 1.").first).to_be_visible()
    expect(page.get_by_role("slider")).to_be_visible()
    step_by_key(page, "Next")
    expect(page.locator("h1")).to_have_text("m1 was acknowledged and lost; a consumer sees m0")
    expect(page).to_have_url(re.compile(r"step=8"))
    logs = "A: 2 records, high watermark 2; B: 1 record, high watermark 1"
    alt = f"Step 8: A, the leader, dies; B of the ISR becomes leader in epoch 1. {logs}"
    expect(page.get_by_role("figure", name=alt)).to_be_attached()
    no_sideways_scroll(page)


@BOTH
def test_call_lab(open_page: Open, viewport: ViewportSize) -> None:
    page = open_page("/calls?story=states&step=5", viewport)
    expect(page.locator("h1")).to_have_text("8 calls, 2 are refused: MEMBER_ID_REQUIRED, UNKNOWN_MEMBER_ID")
    expect(page.get_by_text("Unchanged: time 3 s · group Stable")).to_be_visible()
    page.get_by_role("button", name="Next").click()
    expect(page).to_have_url(re.compile(r"step=6"))
    expect(page.get_by_text("was Stable")).to_be_visible()
    calls = page.get_by_test_id("stTable")
    expect(calls.get_by_text("generation: 1 → 2")).to_be_visible()
    assert calls.evaluate("e => [e, ...e.querySelectorAll('*')].every(one => one.scrollWidth <= one.clientWidth + 1)")
    no_sideways_scroll(page)
    script = page.get_by_role("textbox", name="Calls, one per line")
    script.fill("A: join")
    script.blur()
    expect(page.locator("h1")).to_have_text("1 call, 1 is refused: MEMBER_ID_REQUIRED")
    expect(page).to_have_url(re.compile(r"script="))


@BOTH
def test_advice(open_page: Open, viewport: ViewportSize) -> None:
    page = open_page("/advice", viewport)
    expect(page.locator("h1")).to_have_text(BY_NAME["advice"].question)
    page.get_by_placeholder("Paste a properties file here").fill("heartbeat.interval.ms=45000\npassword=hunter2")
    page.get_by_role("button", name="Check").click()
    expect(page.locator("h1")).to_have_text("1 error and 1 warning in 1 setting")
    expect(page.get_by_text("(IllegalArgumentException); the consumer does not start.")).to_be_visible()
    assert page.url.endswith("/advice")
    no_sideways_scroll(page)


@BOTH
def test_about(open_page: Open, viewport: ViewportSize) -> None:
    page = open_page("/about", viewport)
    expect(page.locator("h1")).to_contain_text("is incomplete: 31 groups, 12 topics, 3 brokers")
    expect(page.get_by_text("••••")).to_be_visible()
    expect(page.get_by_text("groupscope", exact=True).first).to_be_visible()
    no_sideways_scroll(page)


@BOTH
def test_demo(open_page: Open, viewport: ViewportSize) -> None:
    page = open_page("/demo", viewport)
    expect(page.locator("h1")).to_contain_text("demo groups have the expected verdict")
    page.get_by_role("button", name="Freeze").click()
    expect(page.get_by_text("freeze_member order-fulfilment-1: done")).to_be_visible()
    no_sideways_scroll(page)


@pytest.mark.parametrize(
    "path", ["/", "/group?group=billing-settlement", "/topics", "/advice", "/delivery", "/watermark", "/about", "/demo"]
)
def test_dark_theme_is_dark(open_page: Open, path: str) -> None:
    page = open_page(path, dark=True)
    colour = page.locator('[data-testid="stApp"]').evaluate("e => getComputedStyle(e).backgroundColor")
    assert colour == "rgb(20, 22, 26)"


def test_a_chip_filters_and_back_undoes_it(open_page: Open) -> None:
    page = open_page("/")
    page.get_by_role("button", name="Stalled 1").click()
    expect(page).to_have_url(re.compile(r"verdict=stalled"))
    height = "e => e.getBoundingClientRect().height"
    table = page.locator('[data-testid="stDataFrame"]').first
    page.wait_for_function("e => e.getBoundingClientRect().height < 80", arg=table.element_handle())
    page.go_back()
    expect(page).not_to_have_url(re.compile(r"verdict"))
    page.wait_for_function("e => e.getBoundingClientRect().height > 400", arg=table.element_handle())
    assert table.evaluate(height) > 400


def test_text_typed_stands_in_the_url_and_the_link_restores_it(open_page: Open) -> None:
    page = open_page("/")
    page.get_by_placeholder("Group or topic…").fill("bill")
    expect(page).to_have_url(re.compile(r"q=bill"))
    again = open_page(page.url.removeprefix(page.evaluate("location.origin")))
    expect(again.get_by_placeholder("Group or topic…")).to_have_value("bill")


def test_the_first_page_is_found_by_its_name_too(open_page: Open) -> None:
    page = open_page("/overview?q=bill")
    expect(page).to_have_url(re.compile(r":\d+/\?q=bill$"))
    expect(page.get_by_placeholder("Group or topic…")).to_have_value("bill")
    expect(page.get_by_text("Page not found")).to_have_count(0)


def test_the_navigation_carries_the_group_and_the_overview_drops_it(open_page: Open) -> None:
    page = open_page("/group?group=billing-settlement")
    expect(page).to_have_title("Group · groupscope")
    page.get_by_role("link", name="Generations").click()
    expect(page).to_have_url(re.compile(r"/generations\?group=billing-settlement"))
    page.get_by_role("link", name="Overview").click()
    expect(page).to_have_url(re.compile(r":\d+/$"))
    page.go_back()
    expect(page).to_have_url(re.compile(r"/generations\?group=billing-settlement"))
    page.go_forward()
    expect(page.locator("h1")).to_contain_text("groups need attention")
    expect(page).to_have_url(re.compile(r":\d+/$"))


def test_a_click_on_a_group_opens_it_and_back_returns(open_page: Open) -> None:
    page = open_page("/?verdict=stalled")
    expect(cell(page, "billing-settlement")).to_be_attached()
    click_row(page, 0)
    expect(page).to_have_url(re.compile(r"/group\?.*group=billing-settlement"))
    expect(page.locator("h1")).to_contain_text("settle-7c9f-0 has not committed")
    page.go_back()
    expect(page.locator("h1")).to_contain_text("groups need attention")


def test_a_download_holds_what_is_shown(open_page: Open) -> None:
    page = open_page("/?verdict=stalled&verdict=held")
    with page.expect_download() as download:
        page.get_by_role("button", name="JSON").click()
    found = json.loads(download.value.path().read_text())
    assert [row["group"] for row in found] == ["billing-settlement", "tx-reader"]
    assert found[0]["lag_records"] == 1_181_855


def test_a_click_is_answered_by_a_server_that_has_redrawn_the_page_meanwhile(open_page: Open) -> None:
    """As in a browser that is too busy to show what it was sent: here it is held back until the click is on its way."""
    page = open_page("/about")
    held: list[Callable[[], None]] | None = None

    def hold(socket: WebSocketRoute) -> None:
        server = socket.connect_to_server()
        socket.on_message(server.send)
        server.on_message(lambda text: socket.send(text) if held is None else held.append(partial(socket.send, text)))

    page.route_web_socket("**/_stcore/stream", hold)
    page.goto(page.url.replace("/about", "/"))
    csv = page.get_by_role("button", name="CSV").first
    csv.wait_for()
    page.wait_for_timeout(3_000)
    held = []
    page.wait_for_timeout(13_000)  # longer than from one snapshot to the next
    with page.expect_download() as download:
        csv.click()
        page.wait_for_timeout(100)
        sent, held = held, None
        for send in sent:
            send()
    assert download.value.suggested_filename == "groups.csv"


def test_a_new_snapshot_redraws_in_place(open_page: Open) -> None:
    page = open_page("/about")
    title = page.locator("h1")
    before = title.inner_text()
    expect(title).not_to_have_text(before)
    expect(title).to_contain_text("of demo is incomplete")


def test_paused_keeps_its_snapshot_while_its_age_goes_on(open_page: Open) -> None:
    page = open_page("/")
    page.get_by_role("button", name="Pause").click()
    expect(page.get_by_role("button", name="Resume")).to_be_visible()
    expect(page.get_by_text(re.compile(r"(1[2-9]|2\d) s ago .* paused"))).to_be_visible()


def test_the_keyboard_reaches_the_filters(open_page: Open) -> None:
    page = open_page("/")
    page.get_by_role("button", name="Records lost 1").focus()
    page.keyboard.press("Space")
    expect(page).to_have_url(re.compile(r"verdict=lost"))


def test_five_tabs_reach_the_search(open_page: Open) -> None:
    """The first one reaches the link that skips the navigation."""
    page = open_page("/")
    search = page.get_by_placeholder("Group or topic…")
    expect(search).to_be_visible()
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    for _ in range(4):
        page.keyboard.press("Tab")
        if search.evaluate("e => e === document.activeElement"):
            break
    expect(search).to_be_focused()
    page.keyboard.type("bill")
    expect(page).to_have_url(re.compile(r"q=bill"))


def test_sorting_survives_a_new_snapshot(open_page: Open) -> None:
    page = open_page("/?type=Consumer")
    expect(cell(page, "orders-enrichment")).to_be_attached()
    first = page.locator('canvas [role="gridcell"]').first
    header = page.locator('[data-testid="stDataFrame"]').first
    header.click(position={"x": 60, "y": 14})
    expect(first).to_have_text("cart-abandonment")
    number = page.get_by_text(re.compile(r"^\d+ s ago"))
    expect(number).to_have_text(re.compile(r"^[6-9] s ago"))
    expect(number).to_have_text(re.compile(r"^[0-3] s ago"))
    expect(first).to_have_text("cart-abandonment")
