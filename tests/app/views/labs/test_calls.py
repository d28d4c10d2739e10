"""The Call lab: each story by its link, the stepper, scripts of one's own, and links that cannot be played."""

from typing import Any

import pytest

from app.ui.labs import link_codec
from app.views.labs.calls import tables, text
from assignors.labs.calls import STORIES, play_on
from assignors.model import AssignorError
from assignors.simulation.errors import KafkaError
from tests.app.conftest import Open
from tests.app.reading import asked, said, table, title

FIRST = "8 calls, none is refused"


def test_page_opens_with_a_subscription_that_replaces_another(open_page: Open) -> None:
    page = open_page("calls")
    assert not page.exception
    assert title(page) == FIRST
    rows = table(page, "8 calls")
    assert list(rows["call"])[-2:] == ["subscribe orders payments", "poll"]
    assert rows["assigned"].iloc[5] == "payments-0"
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
    assert "was Stable" in said(page)  # the leave: Empty, and a generation more
    page = next(button for button in page.button if button.label == "Previous").click().run()
    assert asked(page) == {"story": "states", "step": "5"}
    assert "accepted" in said(page)


def test_a_script_of_ones_own_is_played_and_stands_in_the_url(open_page: Open) -> None:
    page = open_page("calls", story="finder").text_area(key="calls_script").input("find my-group").run()
    assert not page.exception
    assert title(page) == "1 call, none is refused"
    assert link_codec.decode(asked(page), STORIES).script == "find my-group\n"
    assert "changed" in said(page)
    again = open_page("calls", **asked(page))
    assert title(again) == "1 call, none is refused"


def test_a_script_that_cannot_be_played_is_refused_and_the_page_stays(open_page: Open) -> None:
    page = open_page("calls", story="finder").text_area(key="calls_script").input("find").run()
    assert not page.exception
    assert "Line 1\\: 'find' does not fit\\. Write \\`find GROUP\\`\\." in said(page)
    assert title(page) == text.headline(play_on(STORIES["finder"].machine, STORIES["finder"].script))
    assert asked(page) == {"story": "finder"}


@pytest.mark.parametrize(
    ("parameters", "why"),
    [
        ({"story": "hope"}, "story: There is no story 'hope'. There are subscribe-replaces,"),
        ({"script": "junk"}, "The data in this link cannot be read"),
        ({"script": link_codec.pack_text("fly") or ""}, "Line 1: there is no call 'fly'."),
        ({"script": link_codec.pack_text("# nothing") or ""}, "The script has no calls. Write one per line."),
        ({"script": link_codec.pack_text("#" * 4001) or ""}, "The script has 4,001 letters. Use at most 4,000."),
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


def test_a_step_tells_what_it_has_changed() -> None:
    turns = play_on(STORIES["states"].machine, STORIES["states"].script)
    leave = next(at for at, turn in enumerate(turns) if turn.call.verb == "leave")
    changes = tables.changed(turns, leave)
    assert changes == {"group": ("Stable", "Empty"), "generation": ("1", "2"), "members": ("A-1 leads", "")}


def test_the_headline_counts_refusals_and_names_each_error_once() -> None:
    turns = play_on(STORIES["one-thread"].machine, STORIES["one-thread"].script)
    assert text.headline(turns) == "8 calls, 2 are refused: ConcurrentModificationException"


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
