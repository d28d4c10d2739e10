"""The Call lab: each story by its link, the stepper, scripts of one's own, and links that cannot be played."""

from collections.abc import Sequence
from typing import Any

import plotly.graph_objects as go
import pytest

from app.ui import formats
from app.ui.labs import link_codec
from app.ui.theme import LIGHT
from app.views.labs.calls import charts, strips, tables, text
from app.views.labs.calls.records import KINDS, changes, classify, first_trouble, shown
from assignors.labs.calls import STORIES, Kind, Turn, play_on
from assignors.model import AssignorError
from assignors.simulation.errors import KafkaError
from tests.app.conftest import Open
from tests.app.reading import alt, asked, page_text, title

FIRST = "8 calls, none is refused"


def test_page_opens_with_a_subscription_that_replaces_another(open_page: Open) -> None:
    page = open_page("calls")
    assert not page.exception
    assert title(page) == FIRST
    (shown,) = page.table
    rows = shown.value
    assert shown.proto.alt.startswith("8 calls")
    assert list(rows["Call"])[-2:] == ["`subscribe orders payments`", "`poll`"]
    assert formats.md("assigned: payments-0 → orders-0, orders-1, payments-0") in rows["Result and change"].iloc[7]
    assert any("subscribe\\(\\) replaces the subscription" in element.help for element in page.markdown)


MACHINES = {story.machine: story for story in reversed(list(STORIES.values()))}


@pytest.mark.parametrize("story", MACHINES.values(), ids=lambda story: story.name)
def test_a_story_of_each_machine_opens_by_its_link(open_page: Open, story: Any) -> None:
    page = open_page("calls", story=story.name)
    assert not page.exception
    assert page.selectbox(key="calls_story").value == story.name
    assert title(page) == text.headline(play_on(story.machine, story.script))
    assert page.text_area(key="calls_script").value == story.script


@pytest.mark.parametrize("story", STORIES.values(), ids=lambda story: story.name)
def test_a_story_and_its_link_say_the_same(story: Any) -> None:
    assert link_codec.decode(link_codec.encode(story, STORIES), STORIES) == story


def test_steps_go_back_and_stand_in_the_url(open_page: Open) -> None:
    page = open_page("calls", story="states", step="6")
    assert "was Stable" in page_text(page)  # the leave: Empty, and a generation more
    page = next(button for button in page.button if button.label == "Previous").click().run()
    assert asked(page) == {"story": "states", "step": "5"}
    assert "accepted" in page_text(page)


def test_a_script_of_the_users_own_is_played_and_stands_in_the_url(open_page: Open) -> None:
    page = open_page("calls", story="finder").text_area(key="calls_script").input("find my-group").run()
    assert not page.exception
    assert title(page) == "1 call, none is refused"
    assert link_codec.decode(asked(page), STORIES).script == "find my-group\n"
    assert "changed" in page_text(page)
    again = open_page("calls", **asked(page))
    assert title(again) == "1 call, none is refused"


def test_a_script_that_cannot_be_played_is_refused_and_the_page_stays(open_page: Open) -> None:
    page = open_page("calls", story="finder").text_area(key="calls_script").input("find").run()
    assert not page.exception
    assert "Line 1\\: 'find' is not valid\\. Write \\`find GROUP\\`\\." in page_text(page)
    assert title(page) == text.headline(play_on(STORIES["finder"].machine, STORIES["finder"].script))
    assert asked(page) == {"story": "finder"}


@pytest.mark.parametrize(
    ("parameters", "why"),
    [
        ({"story": "hope"}, "story: There is no story 'hope'. Choose from subscribe-replaces,"),
        ({"script": "junk"}, "The data in this link cannot be read"),
        ({"script": link_codec.pack_text("fly") or ""}, "Line 1: there is no call 'fly'."),
        ({"script": link_codec.pack_text("# nothing") or ""}, "The script has no calls. Write one per line."),
        ({"script": link_codec.pack_text("#" * 4001) or ""}, "The script has 4,001 characters. Use at most 4,000."),
    ],
)
def test_a_link_that_cannot_be_played_says_why(open_page: Open, parameters: Any, why: str) -> None:
    with pytest.raises(AssignorError) as refusal:
        link_codec.decode(parameters, STORIES)
    assert str(refusal.value).startswith(why)
    page = open_page("calls", **parameters)
    assert not page.exception
    assert title(page) == "This link is invalid"
    page = page.button(key="begin_again").click().run()
    assert title(page) == FIRST


def test_a_step_says_what_it_has_changed() -> None:
    turns = play_on(STORIES["states"].machine, STORIES["states"].script)
    leave = next(at for at, turn in enumerate(turns) if turn.call.verb == "leave")
    assert tables.changed(turns, leave) == {
        "group": ("Stable", "Empty"),
        "generation": ("1", "2"),
        "members": ("A-1 leads", ""),
    }


def test_a_step_says_what_it_has_left_as_it_was() -> None:
    turns = play_on(STORIES["states"].machine, STORIES["states"].script)
    last = len(turns) - 1
    assert not set(tables.changed(turns, last)) & set(tables.unchanged(turns, last))
    state = {name: value for name, value in turns[last].state.items() if value}
    changed = {name: after for name, (_, after) in tables.changed(turns, last).items() if after}
    assert {**changed, **tables.unchanged(turns, last)} == state


def test_a_change_is_written_with_the_value_before() -> None:
    turns = play_on(STORIES["states"].machine, STORIES["states"].script)
    leave = next(at for at, turn in enumerate(turns) if turn.call.verb == "leave")
    assert tables.changed_text(turns, leave) == "group: Stable → Empty; generation: 1 → 2; members: A-1 leads → –"


def test_the_headline_counts_refusals_and_names_each_error_once() -> None:
    turns = play_on(STORIES["one-thread"].machine, STORIES["one-thread"].script)
    assert text.headline(turns) == "8 calls, 2 are refused: ConcurrentModificationException"
    turns = play_on(STORIES["seek-back"].machine, STORIES["seek-back"].script)
    assert text.headline(turns) == "10 calls, none is refused; 2 records are read again"


@pytest.mark.parametrize("story", STORIES.values(), ids=lambda story: story.name)
def test_every_error_of_a_coordinator_is_explained(story: Any) -> None:
    errors = {
        turn.error
        for turn in play_on(story.machine, story.script)
        if turn.error and turn.error in KafkaError.__members__
    }
    for error in errors:
        assert str(text.meaning(error)).endswith(f"(error code {KafkaError[error].value}).")
    assert text.meaning("WakeupException") is text.meaning(None) is None


OPENS_AT = {
    "subscription-modes": 3,
    "unsubscribe": 5,
    "no-group-id": 5,
    "one-thread": 5,
    "wakeup": 7,
    "seek": 5,
    "seek-back": 9,  # two records are read again
    "reset-latest": 4,  # five records are skipped
    "reset-earliest": 9,  # a record is read again
    "reset-none": 5,
    "big-message": 3,
    "commit-in-rebalance": 11,
    "errors": 9,
    "failure-detection": 12,
    "generation-fencing": 13,
    "slow-consumer": 15,
    "standalone-commit": 6,
    "failover-stable": 10,
    "failover-told": 11,
    "failover-joining": 15,
    "failover-not-written": 14,
    "broker-errors": 2,
    "subscribe-replaces": 5,
    "pattern": 6,
    "assign": 5,
    "poll": 4,
    "pause": 6,
    "flow-control": 9,
    "store": 8,
    "close": 7,
    "interceptors": 11,
    "positions": 8,
    "by-partition": 8,
    "open-transaction": 8,  # four records are not returned
    "max-poll-records": 6,
    "lag": 8,
    "join-and-sync": 6,
    "states": 7,
    "member-id": 2,
    "id-never-used": 8,
    "parked-join": 11,
    "parked-newcomer": 9,
    "two-assignors": 6,
    "static-member": 5,
    "offset-expiry": 9,
    "failover-written": 12,
    "broker-plans": 4,
    "finder": 8,
    "connections": 4,
    "queue-and-broadcast": 4,
    "offsets-topic": 2,
}
"""The call at which each story opens; the others open at their last one."""


@pytest.mark.parametrize("story", STORIES.values(), ids=lambda story: story.name)
def test_a_story_opens_at_its_first_interesting_call(story: Any) -> None:
    turns = play_on(story.machine, story.script)
    assert (story.opens or first_trouble(turns) + 1) == OPENS_AT.get(story.name, len(turns))


def test_an_open_transaction_is_seen_at_the_first_poll(open_page: Open) -> None:
    page = open_page("calls", story="open-transaction")
    assert "returns orders\\-0 0–1" in page_text(page)


def test_a_script_of_the_users_own_opens_where_it_goes_wrong(open_page: Open) -> None:
    page = (
        open_page("calls", story="open-transaction")
        .text_area(key="calls_script")
        .input("topic t 1\nseek t-0 1\npoll")
        .run()
    )
    assert asked(page)["opens"] == "0"
    assert "IllegalStateException" in page_text(page)


def client(script: str) -> tuple[Turn, ...]:
    """A consumer with auto.offset.reset earliest and a topic t of one partition."""
    return play_on(Kind.CLIENT, f"config auto.offset.reset earliest\ntopic t 1\n{script}")


def kinds(turns: Sequence[Turn]) -> str:
    """A letter for what each record of t-0 is after the last call."""
    return "".join(charts.styles(LIGHT)[KINDS[code]].glyph[0] for code in classify(*changes(turns, len(turns) - 1)[0]))


@pytest.mark.parametrize(
    ("script", "expected"),
    [
        ("produce t-0 3", "○○○"),
        ("produce t-0 3\nsubscribe t\npoll", "▸▸▸"),
        ("produce t-0 3\nsubscribe t\npoll\ncommit\nproduce t-0 1", "✓✓✓○"),
        ("produce t-0 3\nsubscribe t\npoll\nproduce t-0 1", "●●●○"),
        ("produce t-0 3\nsubscribe t\npoll\nseek t-0 1", "●↺↺"),
        ("produce t-0 3\nsubscribe t\npoll\nseek t-0 1\npoll", "●22"),
        ("produce t-0 3\nsubscribe t\npoll\ndelete-records t-0 2", "··●"),
        ("produce t-0 3\ndelete-records t-0 2", "✕✕○"),
        ("produce t-0 3\nassign t-0\nseek t-0 2", "––○"),
        ("produce t-0 1\nproduce t-0 1 transaction=open\nproduce t-0 1", "○……"),
        ("produce t-0 1 transaction=open\nend-transaction t-0\nproduce t-0 1", "○◇○"),
    ],
)
def test_what_each_record_is_to_the_consumer(script: str, expected: str) -> None:
    assert kinds(client(script)) == expected


@pytest.mark.parametrize(
    ("script", "sentence"),
    [
        ("produce t-0 3", "In t-0 the log end moves from 0 to 3."),
        ("produce t-0 3\nsubscribe t\npoll", "In t-0 the position is now 3."),
        ("produce t-0 3\nsubscribe t\npoll\ncommit", "In t-0 the committed offset is now 3."),
        ("produce t-0 3\nsubscribe t\npoll\nunsubscribe", "In t-0 the position is cleared."),
        (
            "produce t-0 3\nsubscribe t\npoll\nseek t-0 1\npoll",
            "In t-0 the position moves from 1 to 3 and 2 records are read again.",
        ),
        (
            "produce t-0 3\ndelete-records t-0 1",
            "In t-0 the log start moves from 0 to 1 and 1 record is deleted before it is read.",
        ),
        (
            "produce t-0 2 transaction=open\nend-transaction t-0",
            "In t-0 the transaction ends and the log end moves from 2 to 3.",
        ),
        ("subscribe t", "No offset changes."),
    ],
)
def test_what_a_call_does_to_the_offsets(script: str, sentence: str) -> None:
    turns = client(script)
    assert text.moved(turns, len(turns) - 1) == sentence


def test_many_partitions_are_counted() -> None:
    turns = play_on(Kind.CLIENT, "topic t 5\nassign t-0 t-1 t-2 t-3 t-4\npoll")
    assert text.moved(turns, 2).endswith("In t-2 the position is now 0. 2 more partitions change.")
    assert [str(its.partition) for _, its in shown(turns, 2, 4)] == ["t-0", "t-1", "t-2", "t-3"]
    quiet = play_on(Kind.CLIENT, "topic t 5\nproduce t-4 1")
    assert [str(its.partition) for _, its in shown(quiet, 1, 2)] == ["t-0", "t-4"]  # what changes is drawn


def marks(fig: go.Figure) -> dict[str, tuple[float, str]]:
    """Row -> where its triangle is, and its number."""
    rows = fig.layout.yaxis.ticktext
    triangles = [(trace.x[0], trace.y[0]) for trace in fig.data if trace.type == "scatter"]
    assert triangles == [(note.x, note.y) for note in fig.layout.annotations]
    return {rows[note.y]: (note.x, note.text) for note in fig.layout.annotations}


def test_each_offset_has_a_row_and_what_moved_says_from_where() -> None:
    turns = client("produce t-0 5\nsubscribe t\npoll\ncommit\nseek t-0 2")
    fig = charts.offsets(turns, changes(turns, len(turns) - 1), LIGHT)
    assert marks(fig) == {"position": (1.5, "<b>2</b>, was 5"), "committed": (4.5, "5"), "log end": (4.5, "5")}
    assert list(fig.layout.yaxis.ticktext) == ["position", "<b>t-0</b>", "committed", "log end"]
    arrow = next(shape for shape in fig.layout.shapes if shape.line.dash == "dot")
    assert (arrow.x0, arrow.x1, arrow.y0) == (4.5, 1.5, 0)


def test_log_start_and_last_stable_offset_have_rows_when_they_matter() -> None:
    turns = client("produce t-0 3\nproduce t-0 2 transaction=open\ndelete-records t-0 1")
    fig = charts.offsets(turns, changes(turns, len(turns) - 1), LIGHT)
    assert marks(fig) == {"last stable": (2.5, "3"), "log end": (4.5, "5"), "log start": (0.5, "<b>1</b>, was 0")}


def test_a_short_log_is_drawn_record_by_record_and_a_long_one_as_a_ruler(open_page: Open) -> None:
    page = open_page("calls", story="seek-back")
    assert not page.exception
    assert alt(page, "calls_offsets") == (
        "In orders-0 the position moves from 3 to 5 and 2 records are read again. "
        "orders-0: 3 records read, 2 records not committed; log start 0, committed 3, position and log end 5."
    )
    page = open_page("calls", story="rewind")
    assert not page.exception
    assert alt(page, "calls_ruler_orders-0").startswith(
        "In orders-0 the position is now 250 and 100 records are read again."
    )


def test_calls_to_a_coordinator_are_drawn_by_caller(open_page: Open) -> None:
    turns = play_on(STORIES["states"].machine, STORIES["states"].script)
    fig = strips.requests(turns, 6, LIGHT)
    assert list(fig.layout.yaxis.ticktext) == ["group", "cluster", "A"]
    words = {text for trace in fig.data for row in trace.text or () for text in row if text.strip()}
    assert words == {"–", "E", "P", "C", "S", "✓", "✕"}
    current = next(shape for shape in fig.layout.shapes if shape.line.width == 3)
    assert (current.x0, current.x1) == (5.5, 6.5)
    page = open_page("calls", story="states", step="6")
    assert alt(page, "calls_requests") == "Call 7 of 8, A: leave: accepted; group: Empty, was Stable"


def test_a_long_script_shows_the_calls_around_the_current_one() -> None:
    turns = play_on(Kind.CLASSIC_GROUP, "\n".join(["topic orders 1", *["A: beat"] * 59]))
    fig = strips.requests(turns, 40, LIGHT)
    assert list(fig.layout.xaxis.ticktext) == [str(step) for step in range(30, 52)]
    assert next(shape for shape in fig.layout.shapes if shape.line.width == 3).x0 == 10.5


def test_a_machine_without_offsets_or_a_group_has_no_picture(open_page: Open) -> None:
    page = open_page("calls", story="finder")
    assert not page.exception
    assert not page.get("plotly_chart")


def test_a_consumer_without_records_has_its_assignment_drawn(open_page: Open) -> None:
    turns = play_on(STORIES["subscribe-replaces"].machine, STORIES["subscribe-replaces"].script)
    fig = strips.assignments(turns, 5, LIGHT)
    assert list(fig.layout.yaxis.ticktext) == ["call", "orders-0", "orders-1", "payments-0"]
    tiles = fig.data[0].customdata[3]  # payments-0
    assert [bool(hover) for hover in tiles] == [False] * 5 + [True] * 3
    page = open_page("calls", step="5")
    assert alt(page, "calls_assignments") == "Call 6 of 8, poll: accepted; assigned: payments-0"


def test_of_many_partitions_those_ever_assigned_are_drawn() -> None:
    turns = play_on(Kind.CLIENT, "topic t 20\nassign t-18")
    assert [str(tp) for tp in strips.partitions(turns)] == ["t-18", *(f"t-{n}" for n in range(11))]
