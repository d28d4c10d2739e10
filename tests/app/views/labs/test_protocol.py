"""The Protocol lab: each story by its link, settings slid, files sent in, and links that cannot be played."""

from dataclasses import replace
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from app.ui.labs import link_codec
from app.ui.scenario import story_state as state
from app.ui.scenario.played import Played
from app.ui.scenario.story_link import STORIES
from app.ui.scenario.story_state import LAB
from app.views.labs.protocol import text
from assignors.model import AssignorError
from assignors.scenario import dump, load_scenario
from assignors.simulation.stories import STORIES as SCENARIOS
from assignors.simulation.timeline.summary import Summary
from assignors.whatif.events import AddPartitions, Event, Freeze, Leave
from assignors.whatif.rebalance_protocol import RebalanceProtocol
from tests.app.conftest import Open
from tests.app.reading import alt, asked, figure, page_text, table, title
from tests.support.known import known, the

JOIN = (
    "Eager stops all 6 partitions for up to 1.6 s; cooperative stops 1 partition for 1.8 s; "
    "KIP-848 stops 1 partition for 5.0 s"
)


def decode(**parameters: str) -> Any:
    return link_codec.decode(parameters, STORIES)


def test_page_opens_with_one_member_that_joins(open_page: Open) -> None:
    page = open_page("protocol")
    assert not page.exception
    assert title(page) == JOIN
    assert "eager 3 of 4, up to 1\\.6 s; cooperative none; KIP\\-848 none\\." in page_text(page)
    assert alt(page, "protocol_lanes").startswith(f"Members and partitions over time, protocol by protocol: {JOIN}.")
    rows = table(page, "Per protocol").set_index("protocol")
    assert list(rows.index) == ["eager", "cooperative", "KIP-848"]
    assert list(rows["rebalances"]) == [1, 2, 1]
    assert list(rows["moved"]) == [1, 1, 1]


def test_sums_of_the_tables_agree(open_page: Open) -> None:
    page = open_page("protocol", story="rolling")
    rows, each = table(page, "Per protocol").set_index("protocol"), table(page, "How long each member")
    for what, most, total in (
        ("member", "paused_max_ms", "paused_sum_ms"),
        ("partition", "down_max_ms", "down_sum_ms"),
    ):
        of = each[each["what"] == what]
        assert [of[name].max() for name in rows.index] == list(rows[most])
        assert [of[name].sum() for name in rows.index] == list(rows[total])


@pytest.mark.parametrize("story", SCENARIOS)
def test_every_story_opens_by_its_link(open_page: Open, story: str) -> None:
    page = open_page("protocol", story=story)
    assert not page.exception
    assert page.selectbox(key="protocol_story").value == story
    assert SCENARIOS[story].description.rstrip(".") in page_text(page).replace("\\", "")


def test_a_story_chosen_stands_in_the_url(open_page: Open) -> None:
    page = open_page("protocol", latency="20").selectbox(key="protocol_story").select("failover").run()
    assert title(page) == "No partition is ever without a consumer, under any protocol"
    assert asked(page) == {"story": "failover"}


def test_a_shorter_session_shortens_a_crash_and_stands_in_the_url(open_page: Open) -> None:
    page = open_page("protocol", story="crash")
    before = table(page, "Per protocol").set_index("protocol")["down_max_ms"]
    page = page.slider(key="protocol_session").set_value(15_000).run()
    after = table(page, "Per protocol").set_index("protocol")["down_max_ms"]
    assert asked(page) == {"story": "crash", "session": "15000"}
    # Everybody hears with the first heartbeat after the session, and those come every 3 s: 30 s are whole beats.
    assert before["eager"] - after["eager"] == 45_000 - 15_000
    assert before["KIP-848"] == after["KIP-848"]  # the broker decides there
    page = page.slider(key="protocol_session").set_value(45_000).run()
    assert asked(page) == {"story": "crash"}


def test_what_kafka_refuses_is_reported_and_the_page_stays(open_page: Open) -> None:
    page = open_page("protocol").slider(key="protocol_session").set_value(6_000).run()
    page = page.slider(key="protocol_heartbeat").set_value(6_000).run()
    assert not page.exception
    assert "Not changed" in page_text(page)
    assert page.slider(key="protocol_heartbeat").value == 3_000
    assert asked(page) == {"story": "join", "session": "6000"}


def test_a_shorter_time_and_messages_are_in_the_url_and_drawn(open_page: Open) -> None:
    page = open_page("protocol")
    page = page.slider(key="protocol_window").set_value((10.0, 11.0)).run()
    page = page.button_group(key="protocol_messages").set_value(RebalanceProtocol.EAGER).run()
    assert not page.exception
    assert asked(page) == {"story": "join", "from": "10000", "to": "11000", "messages": "eager"}
    shown = figure(page, "protocol_lanes")
    assert shown["layout"]["xaxis"]["range"] == [10, 11]
    reported = [text for trace in shown["data"] if trace.get("mode") == "markers" for text in trace["customdata"]]
    assert "coordinator → c4: JoinGroup MEMBER_ID_REQUIRED" in reported


def test_too_many_messages_are_not_drawn(open_page: Open) -> None:
    page = open_page("protocol", story="rolling", messages="cooperative")
    assert "More than 200 messages" in page_text(page)
    assert not [trace for trace in figure(page, "protocol_lanes")["data"] if trace.get("mode") == "markers"]


def test_a_story_downloaded_and_edited_is_played_again(open_page: Open) -> None:
    crash = load_scenario(dump(SCENARIOS["crash"]))
    page = open_page(
        "protocol", scenario=link_codec.pack(replace(crash, name="mine", events=(Event(5_000, Leave("c3")),)))
    )
    assert not page.exception
    assert page.selectbox(key="protocol_story").value == "own"
    assert "leave c3 at 5 s" in page_text(page).replace("\\", "")
    assert "story" not in asked(page)


def test_the_file_of_a_story_holds_what_was_slid() -> None:
    story = decode(story="crash", session="10000")
    assert load_scenario(LAB.file(story).decode()).protocol == {"session.timeout.ms": 10_000}


def test_a_story_that_never_rests_says_what_goes_on(open_page: Open) -> None:
    page = open_page("protocol", processing="60000", poll="10000")
    assert not page.exception
    assert "eager never becomes stable:" in page_text(page)
    assert "processes for longer than max.poll.interval.ms" in page_text(page).replace("\\", "")


def test_a_story_that_cannot_be_played_under_any_protocol_is_reported(open_page: Open) -> None:
    share = replace(SCENARIOS["join"], assignor="share-simple")
    page = open_page("protocol", scenario=link_codec.pack(share))
    assert not page.exception
    assert title(page) == "This story cannot be played"
    assert page_text(page).count("Share groups are not simulated") == 3


@pytest.mark.parametrize(
    ("parameters", "why"),
    [
        ({"story": "hope"}, "story: There is no story 'hope'. Choose from join, leave,"),
        ({"session": "soon"}, "session: 'soon' is not a whole number of milliseconds."),
        ({"session": "٣"}, "session: '٣' is not"),
        ({"session": "9" * 70}, f"session: '{'9' * 59}…' is not"),
        ({"session": "2999"}, "heartbeat.interval.ms 3000 is not below session.timeout.ms 2999"),
        ({"heartbeat": "45000"}, "heartbeat.interval.ms"),
        ({"messages": "share"}, "messages: 'share' is not one of eager, cooperative, consumer."),
        ({"scenario": "junk"}, "The data in this link cannot be read"),
        ({"heartbeat": "1"}, "The story has up to"),
        ({"processing": "1"}, "The story has up to"),
    ],
)
def test_a_link_that_cannot_be_played_says_why(open_page: Open, parameters: Any, why: str) -> None:
    with pytest.raises(AssignorError) as refusal:
        decode(**parameters)
    assert why in str(refusal.value)
    page = open_page("protocol", **parameters)
    assert not page.exception
    assert title(page) == "This link is invalid"
    assert title(page.button(key="begin_again").click().run()) == JOIN


GROWS = Event(1, AddPartitions("orders", 201))


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"events": (GROWS,)}, "up to 201 partitions; a page plays at most 200"),
        ({"events": tuple(Event(at, Freeze("c1")) for at in range(101))}, "up to 101 events; a page plays at most 100"),
        ({"members": SCENARIOS["join"].members * 17, "events": ()}, "up to 51 members; a page plays at most 50"),
        ({"events": (Event(10**9, Leave("c1")),)}, "messages; a page plays at most 30,000"),
        ({"protocol": {"retry.backoff.ms": 0}}, "retry.backoff.ms is below 20"),
    ],
)
def test_what_would_freeze_the_page_is_refused(changes: Any, why: str) -> None:
    with pytest.raises(AssignorError, match=why):
        STORIES["join"].changed({"scenario": replace(SCENARIOS["join"], **changes)})


def test_link_holds_all_that_was_changed() -> None:
    changes = {"session": 9_000, "load": 0, "from": 1, "to": 2, "messages": RebalanceProtocol.CONSUMER}
    story = STORIES["crash"].changed(changes)
    parameters = link_codec.encode(story, STORIES)
    assert parameters == {"story": "crash", **{name: str(value) for name, value in changes.items()}}
    assert decode(**parameters) == story
    own = STORIES["crash"].changed({"scenario": SCENARIOS["zombie"], "to": 7})
    parameters = link_codec.encode(own, STORIES)
    assert parameters.keys() == {"scenario", "to"}
    assert decode(**parameters) == own


def test_protocols_of_which_the_same_is_true_are_named_together() -> None:
    found = state.played(SCENARIOS["static"], seed=0)
    assert text.headline([the(Played, its) for its in found.values()]) == (
        "Eager, cooperative and KIP-848 stop 2 partitions for up to 5.0 s"
    )


def sent(page: AppTest, text: str) -> AppTest:
    uploader: Any = page.get("file_uploader")[0]
    return the(AppTest, uploader.set_value(("mine.yaml", text.encode(), "application/yaml")).run())


def test_a_file_sent_in_is_played(open_page: Open) -> None:
    own = replace(SCENARIOS["crash"], name="mine", events=(Event(5_000, Leave("c3")),))
    page = sent(open_page("protocol"), dump(own))
    assert not page.exception
    assert page.selectbox(key="protocol_story").value == "own"
    assert link_codec.unpack(asked(page)["scenario"]) == own


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("assignor: hope\n", "was not loaded"),
        (dump(replace(SCENARIOS["join"], events=(GROWS,))), "up to 201 partitions; a page plays at most 200"),
    ],
    ids=["no scenario", "too large"],
)
def test_a_file_that_cannot_be_played_changes_nothing(open_page: Open, text: Any, why: str) -> None:
    page = sent(open_page("protocol"), text)
    assert not page.exception
    assert why in page_text(page).replace("\\", "")
    assert title(page) == JOIN


def test_what_is_assumed_can_be_changed_once_it_is_opened_and_stays_when_it_is_closed(open_page: Open) -> None:
    page = open_page("protocol", story="crash")
    assert "protocol_latency" not in {slider.key for slider in page.slider}
    page.session_state["protocol_assumed"] = True
    page = page.run().slider(key="protocol_latency").set_value(40).run()
    assert asked(page)["latency"] == "40"
    slow = table(page, "Per protocol")
    page.session_state["protocol_assumed"] = False
    page = page.run()
    assert asked(page)["latency"] == "40"
    assert table(page, "Per protocol").equals(slow)


def test_another_seed_is_another_story_and_stands_in_the_url(open_page: Open) -> None:
    page = open_page("protocol", story="crash")
    before = table(page, "Per protocol")
    page.session_state["protocol_assumed"] = True
    page = page.run().number_input(key="protocol_seed").set_value(3).run()
    assert not page.exception
    assert asked(page)["seed"] == "3"
    assert list(table(page, "Per protocol")["down_sum_ms"]) != list(before["down_sum_ms"])
    with pytest.raises(AssignorError, match=r"^seed: '-1' is not a whole number\.$"):
        decode(seed="-1")
    assert link_codec.encode(decode(story="crash", seed="3"), STORIES) == {"story": "crash", "seed": "3"}


def test_records_processed_twice_and_lost_stand_in_the_table(open_page: Open) -> None:
    rows = table(open_page("protocol", story="partitions"), "Per protocol").set_index("protocol")
    assert list(rows["twice"]) == [0, 0, 0]
    # Three new partitions at 10 records a second, until somebody finds them and joins.
    summaries = {its.protocol: its for its in played("partitions")}
    waited_s = {
        protocol: sum(known(down.waited_ms) for down in its.downtime[-3:]) / 1000 for protocol, its in summaries.items()
    }
    assert [abs(lost - 10 * waited) < 3 for lost, waited in zip(rows["lost"], waited_s.values(), strict=True)] == [
        True
    ] * 3


def played(story: str) -> list[Summary]:
    found = state.played(SCENARIOS[story], 0)
    return [the(Played, its).summary for its in found.values()]


def test_advice_on_the_storys_settings_stands_below_it(open_page: Open) -> None:
    page = open_page("protocol", story="join", heartbeat="20000")
    words = page_text(page).replace("\\", "")
    assert "**`heartbeat.interval.ms`** :small[:gray[set here]]" in words
    assert "Fewer than 3 heartbeats of 20000 ms fit into the session of 45000 ms." in words


def test_a_group_id_leads_to_its_coordinator(open_page: Open) -> None:
    page = open_page("protocol", story="join")
    assert "`my-group` → `__consumer_offsets-12`" in page_text(page)
    page.text_input(key="protocol_finder").set_value("polygenelubricants")
    page = page.run()
    assert asked(page)["finder"] == "polygenelubricants"
    words = page_text(page)
    assert "`polygenelubricants` → `__consumer_offsets-0`" in words
    assert "hash code -2147483648" in words
    assert "`Utils.abs` makes it 0" in words


def test_a_played_story_is_stepped_through_on_the_generations_page(open_page: Open) -> None:
    asks = LAB.to_generations(decode(story="join", session="30000"), RebalanceProtocol.COOPERATIVE)
    assert asks == {"story": "join", "session": "30000", "protocol": "cooperative"}
    page = open_page("generations", **asks)
    assert not page.exception
    assert "3 generations" in page_text(page)
    assert "simulated with `cooperative-sticky` from the story `One member joins`" in page_text(page)
    assert title(page).replace("\\", "").startswith("Generation 2: join c4; ")
    page = open_page("generations", story="join", protocol="lazy")
    assert "'lazy'. Use one of eager, cooperative, consumer." in page_text(page).replace("\\", "")
