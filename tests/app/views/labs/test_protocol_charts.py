"""The protocol lab's picture: a lane for everybody, gaps where nobody consumes, pauses measured, arrows on demand."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from plotly.graph_objects import Figure

from app.ui import theme
from app.ui.scenario.played import Played
from app.views.labs.protocol import bars as lanes
from app.views.labs.protocol import charts
from assignors.model import Topic
from assignors.simulation.run import simulate
from assignors.simulation.settings import read
from assignors.simulation.stories import STORIES
from assignors.simulation.timeline.summary import summarize
from assignors.simulation.timeline.tables import MemberState
from assignors.whatif.rebalance_protocol import RebalanceProtocol

HAPPENS_MS = 10_000
"""The time of the first event."""


def played(name: str, protocol: RebalanceProtocol = RebalanceProtocol.EAGER) -> Played:
    timeline = simulate(STORIES[name], read(STORIES[name].protocol), protocol)
    return Played(protocol, timeline, summarize(timeline))


def drawn(
    name: str,
    its: Sequence[Played],
    window: tuple[int, int] | None = None,
    messages: Any = (),
    of: Any = None,
    colours: theme.Palette = theme.LIGHT,
) -> Figure:
    shown = window or (0, its[0].timeline.end_ms)
    return charts.lanes(its, STORIES[name].events, shown, messages, of, colours)


def test_protocols_stand_one_below_the_other_with_a_lane_for_group_members_and_partitions() -> None:
    its = [played("join"), played("join", RebalanceProtocol.COOPERATIVE)]
    names = list(drawn("join", its).layout.yaxis.ticktext)
    block = ["", "group", "c1", "c2", "c3", "c4", *(f"orders-{number}" for number in range(6))]
    assert names == ["", *block, *block]


@pytest.mark.parametrize("story", STORIES)
def test_gaps_of_a_lane_are_the_downtime_of_its_partition(story: Any) -> None:
    its = played(story)
    (block,) = lanes.blocks([its])
    gaps = [bar for bar in lanes.bars(block) if bar.look == lanes.GAP]
    for down in its.summary.downtime:
        lane = [bar.end_ms - bar.start_ms for bar in gaps if bar.row == block.partitions[down.partition]]
        assert sum(lane) == down.down_ms + (down.waited_ms or 0)


def test_gaps_are_measured_where_no_member_consumes() -> None:
    (block,) = lanes.blocks([played("crash")])
    last = [bar for bar in lanes.bars(block) if bar.look == lanes.GAP][-1]
    assert (last.start_ms, last.label) == (HAPPENS_MS, "45.7 s")


def test_a_frozen_member_is_a_thin_bar_over_the_gap_and_over_the_member_that_consumes_instead() -> None:
    (block,) = lanes.blocks([played("zombie")])
    bars = [bar for bar in lanes.bars(block) if bar.row == block.last and bar.end_ms > HAPPENS_MS]
    frozen = next(bar for bar in bars if bar.look == MemberState.FROZEN)
    assert frozen.is_thin
    below = [bar.look for bar in bars if bar.start_ms < frozen.end_ms and bar.end_ms > frozen.start_ms]
    assert {lanes.GAP, lanes.MOVED} <= set(below)


def test_a_partition_is_marked_where_another_consumes_it_than_before() -> None:
    (block,) = lanes.blocks([played("join")])
    moved = [bar for bar in lanes.bars(block) if bar.look == lanes.MOVED]
    assert [bar.label for bar in moved] == ["c4"]


def test_states_are_bars_in_their_lane_and_cut_at_the_window() -> None:
    its = played("join")
    paused = [span for span in its.timeline.spans if span.state is MemberState.PAUSED and span.member == "c1"]
    window = (paused[0].start_ms + 100, its.timeline.end_ms)
    fig = drawn("join", [its], window)
    colour = charts.looks(theme.LIGHT)[MemberState.PAUSED].fill
    bars = next(trace for trace in fig.data if trace.type == "bar" and trace.marker.color == colour)
    assert bars.base[0] == window[0] / 1000
    assert round(bars.base[0] + bars.x[0], 3) == paused[-1].end_ms / 1000  # whatever generation passes meanwhile


def test_every_kind_of_span_has_its_own_look() -> None:
    for colours in (theme.LIGHT, theme.DARK):
        styles = [
            look for name, look in charts.looks(colours).items() if name != MemberState.IDLE
        ]  # quiet as Stable is
        assert len(set(styles)) == len(styles)
    assert set(charts.looks(theme.LIGHT)) >= set(MemberState)


def test_a_rebalance_is_a_band_over_all_lanes_of_its_protocol() -> None:
    its = played("crash")
    (block,) = lanes.blocks([its])
    fig = drawn("crash", [its])
    (bands,) = [shape for shape in fig.layout.shapes if shape.type == "path"]
    phases = [phase for phase in its.timeline.group if phase.state != "Stable"]
    assert len(phases) > 1
    top, bottom = block.title + 0.5, block.last + 0.5
    assert bands.path == "".join(
        f"M{phase.start_ms / 1000:.3f},{top}H{phase.end_ms / 1000:.3f}V{bottom}H{phase.start_ms / 1000:.3f}Z"
        for phase in phases
    )


def test_events_are_numbered() -> None:
    fig = drawn("stop-the-world", [played("stop-the-world")])
    numbers = next(
        trace for trace in fig.data if trace.type == "scatter" and trace.mode == "text" and set(trace.y) == {0}
    )
    assert list(numbers.text) == ["<b>1</b>", "<b>2</b>", "<b>3</b>"]
    assert numbers.x[0] == HAPPENS_MS / 1000


def test_arrows_go_from_lane_to_lane_and_end_in_a_cross_where_there_is_no_receiver() -> None:
    its = played("crash")
    messages = charts.shown(its.timeline.messages, (HAPPENS_MS - 3_000, HAPPENS_MS + 3_000))
    (block,) = lanes.blocks([its])
    fig = drawn("crash", [its], messages=messages, of=its)
    heads = next(trace for trace in fig.data if trace.type == "scatter" and trace.mode == "markers")
    asked = [at for at, each in enumerate(messages) if each.source == "c1"]
    assert {heads.y[at] for at in asked} == {block.rows[""]}
    assert {heads.marker.symbol[at] for at in asked} == {"triangle-up"}
    assert not [trace for trace in drawn("crash", [its]).data if trace.type == "scatter" and trace.mode == "markers"]


def test_no_more_messages_are_looked_at_than_can_be_drawn() -> None:
    its = played("crash")
    assert len(charts.shown(its.timeline.messages * 10, (0, its.timeline.end_ms))) == charts.MOST_ARROWS + 1


def test_the_longest_pause_of_a_lane_is_written_beside_it_where_it_is_too_narrow() -> None:
    its = played("crash")
    paused = {pause.member: pause.longest_ms for pause in its.summary.pauses if pause.longest_ms}
    (block,) = lanes.blocks([its])
    beside = {note.y: note.text for note in drawn("crash", [its]).layout.annotations}
    assert {name: beside[block.rows[name]] for name in paused} == {name: f"{ms} ms" for name, ms in paused.items()}


def test_of_a_large_group_those_that_wait_longest_are_drawn() -> None:
    its = played("crash")
    many = replace(STORIES["crash"], topics={"orders": Topic("orders", lanes.MOST_LANES + 1)})
    timeline = simulate(many, read(many.protocol), RebalanceProtocol.EAGER)
    large = Played(RebalanceProtocol.EAGER, timeline, summarize(timeline))
    drawn_of = lanes.blocks([large])[0].partitions
    down = {each.partition: each.down_ms for each in large.summary.downtime}
    assert len(drawn_of) == lanes.MOST_LANES
    assert min(down[tp] for tp in drawn_of) >= max(ms for tp, ms in down.items() if tp not in drawn_of)
    assert (lanes.left_out([its]), lanes.left_out([large])) == (False, True)
