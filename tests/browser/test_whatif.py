"""What if and Generations in a real Chromium: edit, upload, compare, step, play, download, share."""

import csv
import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, ViewportSize, WebSocketRoute, expect

import assignors
from app.plugins import WORKED_EXAMPLES
from app.ui.movement.encoding import short_title
from assignors.scenario import examples, load_scenario
from assignors.whatif.moves import MoveKind
from tests.browser.conftest import DESKTOP, Open, served, step_by_key
from tests.browser.test_pages import BOTH, cell, click_row, fits, no_sideways_scroll
from tests.support.chromium import AT_REST

pytestmark = pytest.mark.browser
HAND_OVER = "cooperative-hand-over"
COMPARED = ["cooperative-sticky", "range", "roundrobin", "sticky", "uniform", "server-range", "Weighted", "Consistent"]
FIGURES = {
    "step": "Generation 8: c3 joins; 2 of 6 partitions revoked.",
    "still": "Generations 7 to 9 of 6 partitions; most changes in generation 8 (c3 joins): 2. "
    "Current: Generation 8: c3 joins; 2 of 6 partitions revoked.",
    "counts": "Generation 8: 0 to 2 partitions per member, most on c1; idle: c3.",
    "motion": "Generations 7 to 9, animated. Current: Generation 8: c3 joins; 2 of 6 partitions revoked.",
}


@pytest.fixture(scope="module")
def with_plugins() -> Iterator[str]:
    """The dashboard with the two worked examples as plugins."""
    with served(env={"GROUPSCOPE_PLUGINS": json.dumps(WORKED_EXAMPLES)}) as url:
        yield url


def headline(page: Page) -> Locator:
    return page.locator("h1")


def figures(page: Page) -> Locator:
    return page.locator('[role="figure"]')


def press(page: Page, label: str) -> None:
    page.get_by_role("button", name=label, exact=True).click()


def choose(page: Page, box: str, option: str) -> None:
    page.get_by_role("combobox", name=box).click()
    page.get_by_role("option", name=option, exact=True).click()


def first_column(page: Page, table: int = 0) -> Locator:
    rows = page.locator('[data-testid="stDataFrame"]').nth(table).locator('canvas [role="row"]')
    return rows.locator('[role="gridcell"]:first-child')


def path_of(page: Page) -> str:
    return page.url.removeprefix(page.evaluate("location.origin"))


@BOTH
@pytest.mark.parametrize("where", ["whatif", "generations"])
def test_an_example_opens_with_its_conclusion_and_figures(open_page: Open, where: str, viewport: ViewportSize) -> None:
    page = open_page(f"/{where}?example={HAND_OVER}", viewport)
    stated = {"whatif": "c3 joins: 2 of 6 partitions move, no idle members", "generations": FIGURES["step"].rstrip(".")}
    expect(headline(page)).to_have_text(stated[where])
    for alt in FIGURES.values():
        expect(page.get_by_role("figure", name=alt, exact=True)).to_be_attached()
    expect(figures(page)).to_have_count(len(FIGURES))
    expect(cell(page, "revoked")).to_be_attached()
    box = headline(page).bounding_box()
    assert box is not None
    assert box["y"] + box["height"] < viewport["height"] / 3
    no_sideways_scroll(page)


def test_a_click_starts_members_of_a_group_without_any(open_page: Open) -> None:
    page = open_page("/whatif?group=dlq-replayer")
    expect(headline(page)).to_contain_text("1 partition and no members")
    expect(cell(page, "18211")).to_be_attached()
    assert fits(page)
    click_row(page, 0)
    expect(headline(page)).to_contain_text("new-1 joins")
    expect(page).to_have_url(re.compile(r"scenario="))


def test_dark_theme_is_dark_and_complete(open_page: Open) -> None:
    page = open_page(f"/whatif?example={HAND_OVER}", dark=True)
    expect(figures(page)).to_have_count(len(FIGURES))
    colour = page.locator('[data-testid="stApp"]').evaluate("e => getComputedStyle(e).backgroundColor")
    assert colour == "rgb(20, 22, 26)"


def test_an_uploaded_scenario_is_compared_downloaded_and_the_same(open_page: Open, with_plugins: str) -> None:
    page = open_page("/whatif", url=with_plugins)
    expect(cell(page, HAND_OVER)).to_be_attached()
    page.get_by_role("radio", name="File").click()
    page.locator('input[type="file"]').set_input_files(str(examples()[HAND_OVER]))
    expect(headline(page)).to_have_text("c3 joins: 2 of 6 partitions move, no idle members")
    expect(figures(page)).to_have_count(len(FIGURES))
    expect(first_column(page)).to_have_text(COMPARED)
    assert fits(page)

    with page.expect_download() as moves:
        page.get_by_role("button", name="CSV", exact=True).last.click()
    revoked = assignors.fold(load_scenario(examples()[HAND_OVER]))[1].moves.of(MoveKind.REVOKED)
    with Path(moves.value.path()).open(newline="") as file:
        assert list(csv.DictReader(file)) == [
            {"topic": m.tp.topic, "partition": str(m.tp.partition), "change": "revoked", "from": m.source, "to": ""}
            for m in revoked
        ]

    press(page, "Share")
    with page.expect_download() as scenario:
        press(page, "Scenario file")
    assert load_scenario(Path(scenario.value.path()).read_text()) == load_scenario(examples()[HAND_OVER])
    assert scenario.value.suggested_filename == "scenario.yaml"


def test_an_edit_is_not_kept_waiting_by_a_plugin(open_page: Open, tmp_path: Path) -> None:
    """What Kafka's assignors make of the group, and of the edit, stands before the plugin has answered."""
    answers = tmp_path / "answers"
    env = {"GROUPSCOPE_PLUGINS": '["tests.app.bad_plugins:Dawdles"]', "DAWDLES_UNTIL": str(answers)}
    with served(env=env) as url:
        page = open_page(f"/whatif?example={HAND_OVER}", url=url)
        expect(page.get_by_text("Dawdles is running")).to_be_visible()
        expect(first_column(page)).to_have_text(COMPARED[:6])
        press(page, "Add")
        stated = "c3 joins, c4 joins: 3 of 6 partitions move, no idle members"
        expect(headline(page)).to_have_text(stated, timeout=10_000)  # long before the plugin is ended, too
        expect(page.get_by_text("Dawdles is running")).to_be_visible()
        answers.touch()
        expect(page.get_by_text("Dawdles cannot compute an assignment")).to_be_visible()
        expect(page.get_by_text("Dawdles is running")).not_to_be_attached()
        expect(first_column(page)).to_have_text([*COMPARED[:6], "Dawdles"])
        page.goto("about:blank")  # its server ends now, of which it would complain


ALIAS = b"schema_version: 1\nname: a\ntopics: &t [{name: a, partitions: 1}]\nmembers: *t\n"
UNKNOWN = b"schema_version: 1\nname: a\nassignor: range\ntopiks: []\n"
REFUSED = {
    "junk.yaml": (b"\x00\x01\xff", "line 1", "Byte 2 is not UTF-8."),
    "alias.yaml": (ALIAS, "line 3", "Anchors (&) and aliases (*) are not allowed."),
    "unknown.yaml": (UNKNOWN, "line 4", "The key 'topiks' is unknown. Did you mean 'topics'?"),
    "large.yaml": (b"#" * 3_000_000, "large.yaml", "File must be 2.0MB or smaller."),
    "scenario.txt": (b"schema_version: 1\n", "scenario.txt", "text/plain files are not allowed."),
}


def test_a_broken_upload_says_where_and_why_and_changes_nothing(open_page: Open) -> None:
    page = open_page(f"/whatif?example={HAND_OVER}")
    before = headline(page).inner_text()
    page.get_by_role("radio", name="File").click()
    for name, (data, where, why) in REFUSED.items():
        page.locator('input[type="file"]').set_input_files({"name": name, "mimeType": "text/plain", "buffer": data})
        expect(page.get_by_text(why).first).to_be_visible()
        expect(page.get_by_text(where, exact=True).first).to_be_visible()
        expect(headline(page)).to_have_text(before)
    expect(page).to_have_url(re.compile(f"example={HAND_OVER}"))
    expect(figures(page)).to_have_count(len(FIGURES))


def test_events_are_added_undone_and_shared_by_link(open_page: Open) -> None:
    page = open_page(f"/whatif?example={HAND_OVER}")
    start = headline(page).inner_text()
    press(page, "Add")
    expect(headline(page)).to_contain_text("c3 joins, c4 joins: ")
    expect(page).to_have_url(re.compile("scenario="))
    edited, link = headline(page).inner_text(), path_of(page)

    fresh = open_page(link)
    expect(headline(fresh)).to_have_text(edited)
    expect(fresh.get_by_text("from a link: cooperative hand-over")).to_be_visible()

    press(page, "Undo")
    expect(headline(page)).to_have_text(start)
    press(page, "Redo")
    expect(headline(page)).to_have_text(edited)
    press(page, "Clear")
    expect(headline(page)).to_have_text("6 partitions on 2 members, 3 each: add an event to see what moves")
    expect(page.get_by_role("button", name="Next")).to_have_count(0)
    page.go_back()
    expect(headline(page)).to_have_text(edited)


IGNORE_ENDED_ANIMATION = "addEventListener('unhandledrejection', e => e.reason === undefined && e.preventDefault())"
"""Plotly rejects, with no reason, the promise of an animation that Pause ends; its own buttons do not wait for it."""


FOUR_CLICKS = """async () => {
    for (let i = 0; i < 4; i++) {
        document.querySelector(".st-key-step_Next button").click();
        await new Promise(done => setTimeout(done, 100));
    }
}"""
"""Next, four times in 0.4 s."""


def motion_title(page: Page) -> Locator:
    """The line above the lanes of the animation: the generation that is shown."""
    return figures(page).filter(has=page.locator("g.updatemenu-button")).locator(".scatterlayer .textpoint text").last


FOUR_AT_ONCE = {
    "clicks": """() => {
        for (let i = 0; i < 4; i++) document.querySelector(".st-key-step_Next button").click();
    }""",
    "keys": """() => {
        const press = { key: "ArrowRight", code: "ArrowRight", keyCode: 39, which: 39, bubbles: true };
        for (let i = 0; i < 4; i++) document.body.dispatchEvent(new KeyboardEvent("keydown", press));
    }""",
}
"""What waits while the browser draws comes at once, as fast as it can."""


@pytest.mark.parametrize("presses", FOUR_AT_ONCE.values(), ids=FOUR_AT_ONCE)
def test_four_presses_at_once_are_four_steps(open_page: Open, presses: str) -> None:
    page = open_page("/whatif?example=100-partitions&gen=0")
    step_by_key(page, "Next")
    expect(page).to_have_url(re.compile(r"gen=1\b"))
    page.evaluate(presses)
    expect(page).to_have_url(re.compile(r"gen=5\b"))
    last = assignors.fold(load_scenario(examples()["100-partitions"]))[5]
    expect(motion_title(page)).to_contain_text(short_title(str(last.number), last.event, 30))


def test_steps_by_button_key_and_play(open_page: Open) -> None:
    page = open_page("/whatif?example=100-partitions&gen=0")
    titles = [
        short_title(str(made.number), made.event, 30)
        for made in assignors.fold(load_scenario(examples()["100-partitions"]))
    ]
    expect(page.get_by_role("button", name="Previous")).to_be_disabled()
    expect(motion_title(page)).to_contain_text(titles[0])
    page.get_by_role("button", name="Next").click()
    expect(page).to_have_url(re.compile(r"gen=1\b"))
    expect(page.get_by_text("Generation 2: c01 leaves; 10 of 100 partitions moved.", exact=True)).to_be_visible()
    step_by_key(page, "Next")
    expect(page).to_have_url(re.compile(r"gen=2\b"))
    expect(motion_title(page)).to_contain_text(titles[2])
    step_by_key(page, "Previous")
    expect(page).to_have_url(re.compile(r"gen=1\b"))
    expect(motion_title(page)).to_contain_text(titles[1])
    page.get_by_role("button", name="Previous").click()
    expect(motion_title(page)).to_contain_text(titles[0])

    page.evaluate(FOUR_CLICKS)
    expect(page).to_have_url(re.compile(r"gen=4\b"))
    expect(motion_title(page)).to_contain_text(titles[4])
    page.goto(f"{page.url.partition('?')[0]}?example=100-partitions&gen=0")
    expect(motion_title(page)).to_contain_text(titles[0])

    page.evaluate(IGNORE_ENDED_ANIMATION)
    page.locator("g.updatemenu-button", has_text="Play").click()
    expect(motion_title(page)).not_to_contain_text(titles[0])
    page.locator("g.updatemenu-button", has_text="Pause").click()
    stopped = motion_title(page).inner_html()
    page.wait_for_timeout(2_500)  # two generations of the animation
    assert motion_title(page).inner_html() == stopped
    assert titles[-1] not in stopped


def test_two_members_for_a_live_group_and_on_to_its_generations(open_page: Open) -> None:
    page = open_page("/group?group=orders-enrichment")
    expect(page.get_by_text("Why this assignment")).to_be_visible()
    press(page, "What if…")
    expect(headline(page)).to_have_text("12 partitions on 4 members, 0 to 3 each: add an event to see what moves")
    expect(page.get_by_text("Capacity is the highest rate of a member that had records waiting")).to_be_visible()
    assert fits(page)
    page.get_by_label("How many").fill("2")
    page.keyboard.press("Tab")
    press(page, "Add")
    expect(headline(page)).to_contain_text("enrich-4 joins, enrich-5 joins: ")
    assert fits(page)
    choose(page, "Event", "The assignor changes")
    page.get_by_role("radio", name="range", exact=True).click()
    expect(headline(page)).to_contain_text("enrich-4 joins, enrich-5 joins, with range: ")
    expect(page).to_have_url(re.compile("assignor=range"))

    press(page, "Generations")
    expect(headline(page)).to_contain_text("Generation ")
    expect(page.get_by_text("Simulated")).to_be_visible()
    expect(page.get_by_text("predicted with")).to_be_visible()
    press(page, "What if…")
    expect(headline(page)).to_contain_text("enrich-4 joins, enrich-5 joins, with range: ")
    page.go_back()
    expect(page.get_by_text("predicted with")).to_be_visible()


class LateTimer:
    """The connection of a page whose last request for its status line reaches the server late: while What if runs."""

    def __init__(self) -> None:
        self.is_listening = self.is_late = False
        self.request: str | bytes | None = None

    def connect(self, browser: WebSocketRoute) -> None:
        server = browser.connect_to_server()

        def to_server(message: str | bytes) -> None:
            if self.is_listening:
                self.request, self.is_listening = message, False
            server.send(message)

        def to_browser(message: str | bytes) -> None:
            if (
                self.request is not None
                and not self.is_late
                and isinstance(message, bytes)
                and b"Start from" in message
            ):
                server.send(self.request)
                self.is_late = True
            browser.send(message)

        browser.on_message(to_server)
        server.on_message(to_browser)


def test_a_late_request_of_the_page_before_does_not_blank_the_page(open_page: Open) -> None:
    page, timer = open_page("/group?group=orders-enrichment"), LateTimer()
    page.route_web_socket("**/_stcore/stream", timer.connect)
    page.reload()
    expect(page.get_by_text("Why this assignment")).to_be_visible()
    page.locator(AT_REST).wait_for()
    timer.is_listening = True
    while timer.request is None:
        page.wait_for_timeout(100)
    press(page, "What if…")
    expect(page.get_by_text("Moves", exact=True)).to_be_visible()
    page.locator(AT_REST).wait_for()
    assert timer.is_late
    page.get_by_label("How many").fill("2")
    page.keyboard.press("Tab")
    press(page, "Add")
    expect(headline(page)).to_contain_text("enrich-4 joins, enrich-5 joins: ")


def test_a_click_in_the_gallery_opens_the_example(open_page: Open) -> None:
    page = open_page("/whatif")
    names = list(examples())
    expect(first_column(page)).to_have_text(names)
    click_row(page, names.index("hot-member"))
    expect(page).to_have_url(re.compile("example=hot-member"))
    expect(headline(page)).to_contain_text("the lag never drains: small-2 cannot keep up")
    assert fits(page)
    page.go_back()
    expect(first_column(page)).to_have_text(names)


@pytest.mark.parametrize("name", [pytest.param("5000-partitions", marks=pytest.mark.long), "100000-partitions"])
def test_large_groups_open_whole(open_page: Open, name: str) -> None:
    page = open_page(f"/whatif?example={name}", DESKTOP)
    counts = "(295 of 5,500 partitions move, 298|2,979 of 100,000 partitions move, 3,000)"
    moved = re.compile(rf"{counts} moves in 4 rebalances, no idle members")
    expect(headline(page)).to_contain_text(moved, timeout=120_000)
    expect(figures(page)).to_have_count(5)
    expect(page.get_by_text("Flow between members")).to_be_visible()
    no_sideways_scroll(page)
