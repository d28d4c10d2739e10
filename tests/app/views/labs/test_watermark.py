"""The Watermark lab: each story by its link, the stepper, other rules, own actions, and links that cannot be."""

from typing import Any

import pytest

from app.ui.labs import link_codec
from app.views.labs.watermark import text
from app.views.labs.watermark.tables import Cell, differing, first_trouble, lanes
from assignors.labs.watermark import STORIES, begin, play_on
from assignors.labs.watermark.model import (
    Crash,
    Fetch,
    PowerCut,
    Produce,
    Restart,
    Settings,
    Start,
    State,
    Timing,
    Truncation,
    Wait,
)
from assignors.labs.watermark.stories import WatermarkStory
from assignors.model import AssignorError
from tests.app.conftest import Open
from tests.app.reading import alt, asked, page_text, table, title
from tests.assignors.labs.watermark.playing import play

ENDS = {
    "t1-t4": "A consumer sees m0",
    "exact-timing": "A consumer sees m0",
    "isr-only": "A consumer sees m0, m1",
    "loss": "m1 was acknowledged and lost; a consumer sees m0",
    "loss-epochs": "A consumer sees m0, m1",
    "divergence": "m1 was acknowledged and lost; the logs differ at offset 1; a consumer sees m0, m2",
    "divergence-epochs": "m1 was acknowledged and lost; a consumer sees m0, m2",
    "restart": "A consumer sees m0; m1 waits for the ISR",
    "slow-follower": "A consumer sees m0, m1",
    "too-few": "A consumer sees m0, m2",
    "shrinks": "A consumer sees nothing yet; m0 waits for the ISR",
    "one-ack": "m0 was acknowledged and lost; a consumer sees nothing yet",
    "clean": "A consumer sees m0, m1",
    "unclean": "m0, m1 were acknowledged and lost; a consumer sees nothing yet",
}
"""What each story's title says, at its end."""


def end_of(story: WatermarkStory) -> State:
    return play(begin(story.replicas, story.settings), story.actions)[-1].state


def test_each_story_has_an_end_here() -> None:
    assert list(STORIES) == list(ENDS)


@pytest.mark.parametrize("story", STORIES.values(), ids=lambda story: story.name)
def test_story_ends_as_it_says(story: Any) -> None:
    assert text.headline(end_of(story)) == ENDS[story.name]


OPENS_AT = {
    "t1-t4": 1,  # the producer waits
    "exact-timing": 2,  # the response has the high watermark from before
    "isr-only": 4,  # C dies
    "loss": 7,  # B truncates
    "loss-epochs": 7,  # B keeps its log
    "divergence": 6,  # B loses an unflushed record
    "divergence-epochs": 6,
    "restart": 5,  # B truncates
    "slow-follower": 2,  # B leaves the ISR
    "too-few": 5,  # NOT_ENOUGH_REPLICAS
    "shrinks": 2,  # the ISR shrinks
    "one-ack": 2,  # the record is lost
    "clean": 4,  # no leader
    "unclean": 4,
}


@pytest.mark.parametrize("story", STORIES.values(), ids=lambda story: story.name)
def test_a_story_opens_at_its_first_interesting_step(story: Any) -> None:
    steps = play(begin(story.replicas, story.settings), story.actions)
    assert (story.opens or first_trouble(steps)) == OPENS_AT[story.name] < len(steps)


def test_a_producers_error_by_a_new_leader_is_trouble() -> None:
    steps = play(begin("AB"), (Produce("m0"), Crash("A"), Start("A"), Fetch("A"), Fetch("A")))
    assert first_trouble(steps) == 2  # NOT_LEADER_OR_FOLLOWER


@pytest.mark.parametrize(
    ("name", "seen"),
    [
        ("t1-t4", "A consumer sees nothing yet; m0 waits for the ISR"),
        ("isr-only", "A consumer sees m0"),
    ],
)
def test_a_story_without_trouble_opens_where_it_says_by_its_link(open_page: Open, name: str, seen: str) -> None:
    page = open_page("watermark", story=name)
    assert not page.exception
    assert title(page) == seen
    assert page.selectbox(key="watermark_story").value == name


def test_a_story_chosen_opens_at_the_truncation(open_page: Open) -> None:
    page = open_page("watermark", step="2").selectbox(key="watermark_story").select("loss").run()
    assert asked(page) == {"story": "loss"}
    assert alt(page, "watermark_replicas") == (
        "Step 7: B restarts and truncates from 2 to its high watermark 1. "
        "A: 2 records, high watermark 2; B: 1 record, high watermark 1"
    )


def test_next_says_what_happened_and_why_the_watermark_stands_there(open_page: Open) -> None:
    page = open_page("watermark", step="2")
    page = next(button for button in page.button if button.label == "Next").click().run()
    assert "B fetches at 1\\: A now has high watermark 1; B gets 0 records and high watermark 1\\." in page_text(page)
    assert (
        "A consumer reads records below offset 1, the high watermark of A\\. "
        "Log end offsets of the ISR as known to A\\: A 1, B 1\\."
    ) in page_text(page)
    assert "The producer of m0 \\(acks=all\\) gets an acknowledgement\\." in page_text(page)
    assert next(button for button in page.button if button.label == "Next").disabled


def test_many_records_and_producers_are_counted() -> None:
    steps = play(begin("AB"), [*(Produce(f"m{n}") for n in range(9)), Crash("A")])
    before, after = steps[-2].state, steps[-1].state
    names = "m0, m1, m2, m3, m4, m5 and 3 more"
    assert text.watermark(before).startswith("A consumer reads nothing, because the high watermark of A is 0. Log end")
    assert text.headline(before) == f"A consumer sees nothing yet; {names} wait for the ISR"
    assert text.responses(before, after) == [f"The producers of {names} (acks=all) fail with NOT_LEADER_OR_FOLLOWER."]


def test_too_few_in_sync_are_named_where_the_watermark_stands_still(open_page: Open) -> None:
    page = open_page("watermark", story="too-few", step="6")
    assert "It does not move\\: the ISR has 1 replica, and min\\.insync\\.replicas is 2\\." in page_text(page)
    assert list(table(page, "the response to its producer")["now"]) == ["visible", "not yet visible"]


def test_another_rule_changes_the_end_and_stands_in_the_url(open_page: Open) -> None:
    page = open_page("watermark", story="loss", step="8")
    page = page.selectbox(key="watermark_truncation").select(Truncation.LEADER_EPOCH).run()
    assert title(page) == "A consumer sees m0, m1"
    assert asked(page) == {"story": "loss", "truncation": "leader-epoch", "step": "8"}
    assert "changed" in page_text(page)
    ends = table(page, "sets of rules").set_index("rules")
    assert list(ends["lost"]) == ["m1", "m1", "–", "–"]
    assert "▸ by leader epoch" in ends.index


def test_an_action_of_the_users_own_replaces_what_follows(open_page: Open) -> None:
    page = open_page("watermark", story="loss", step="3")
    page = page.selectbox(key="watermark_what").select("A broker crashes").run()
    page = page.selectbox(key="watermark_replica").select("A").run()
    page = page.button(key="watermark_add").click().run()
    assert not page.exception
    assert asked(page) == {"story": "loss", "do": "p:m0.f:B.f:B.c:A", "step": "4"}
    assert title(page) == "A consumer sees m0"
    page = page.button(key="watermark_add").click().run()
    assert "A is already down\\. Start it first\\." in page_text(page)
    assert asked(page)["step"] == "4"


def test_a_producer_sends_a_value_that_was_never_used(open_page: Open) -> None:
    page = open_page("watermark", story="divergence", step="11")
    page = page.button(key="watermark_add").click().run()
    assert asked(page)["do"].endswith(".f:A.f:A.p:m3")


def test_a_story_that_cannot_go_on_stops_and_says_why(open_page: Open) -> None:
    page = open_page("watermark", do="p:m0.c:B.c:B.p:m1", opens="0")
    assert not page.exception
    assert "Action 3\\: B is already down\\. Start it first\\." in page_text(page)
    assert list(table(page, "steps with")["number"]) == ["0", "1", "▸ 2"]


def test_link_holds_every_kind_of_action() -> None:
    actions = (
        Produce("m0"),
        Produce("m1", acks_all=False),
        Fetch("B"),
        Fetch("B", response_lost=True),
        Wait(500),
        Restart("B"),
        Crash("A"),
        PowerCut({"A": 1, "B": 12}),
        PowerCut(),
        Start("A"),
    )
    story = STORIES["t1-t4"].changed({"do": actions, "timing": Timing.EXACT, "min_insync": 3})
    assert story.settings == Settings(timing=Timing.EXACT, min_insync_replicas=3)
    parameters = link_codec.encode(story, STORIES)
    assert parameters["do"] == "p:m0.p1:m1.f:B.fl:B.w:500.r:B.c:A.x:A1-B12.x:.s:A"
    assert link_codec.decode(parameters, STORIES) == story


@pytest.mark.parametrize(
    ("parameters", "why"),
    [
        ({"story": "hope"}, "story: There is no story 'hope'. Choose from t1-t4, exact-timing,"),
        ({"do": "q:m0"}, "do: 'q:m0' is not an action. Write actions like p:m0, f:B, w:500, c:A, s:A."),
        ({"do": "w:0"}, "do: 'w:0' is not an action."),
        ({"do": "w:99999999999"}, "do: 'w:99999999999' is not an action."),
        ({"do": "p:"}, "do: 'p:' is not an action."),
        ({"do": "x:A"}, "do: 'x:A' is not an action."),
        ({"do": ".".join(["f:B"] * 61)}, "do: There are 61 actions. Use at most 60."),
        ({"do": "z" * 70}, f"do: '{'z' * 59}…' is not an action."),
        ({"min_insync": "9"}, "min_insync: '9' is not one of 1, 2, 3."),
        ({"unclean": "maybe"}, "unclean: 'maybe' is not yes or no."),
    ],
)
def test_a_link_that_cannot_be_played_says_why(open_page: Open, parameters: Any, why: str) -> None:
    with pytest.raises(AssignorError) as refusal:
        link_codec.decode(parameters, STORIES)
    assert str(refusal.value).startswith(why)
    page = open_page("watermark", **parameters)
    assert not page.exception
    assert title(page) == "This link is invalid"


def test_a_step_after_the_end_shows_the_last(open_page: Open) -> None:
    assert title(open_page("watermark", step="99")) == ENDS["t1-t4"]


@pytest.mark.parametrize("step", ["-1", "x", "٣"])
def test_a_step_that_is_no_number_opens_the_story_as_without(open_page: Open, step: str) -> None:
    assert title(open_page("watermark", step=step)) == title(open_page("watermark"))


def test_records_that_come_and_go_are_marked() -> None:
    story = STORIES["restart"]
    steps = play(begin(story.replicas, story.settings), story.actions)
    assert [kind for _, kind in lanes(steps, 4)[1].cells] == [Cell.COMMITTED, Cell.NEW]
    assert [kind for _, kind in lanes(steps, 5)[1].cells] == [Cell.COMMITTED, Cell.CUT]
    assert [lane.role for lane in lanes(steps, 5)] == ["leader", "in ISR"]


def test_only_the_followers_copy_is_the_wrong_one() -> None:
    assert differing(end_of(STORIES["divergence"])) == {("A", 1)}


def test_play_on_gives_the_steps_before_the_one_that_cannot_happen() -> None:
    steps, refusal = play_on(begin("AB"), (Produce("m0"), Fetch("A")))
    assert [step.action for step in steps] == [None, Produce("m0")]
    assert str(refusal).startswith("Action 2: A cannot fetch")


def test_a_number_and_the_click_that_follow_each_other_at_once_count_both(open_page: Open) -> None:
    page = open_page("watermark", story="divergence", step="11")
    page = page.selectbox(key="watermark_what").select("Time passes").run()
    page.number_input(key="watermark_ms").set_value(1_234)
    page = page.button(key="watermark_add").click().run()
    assert asked(page)["do"].endswith(".w:1234")
