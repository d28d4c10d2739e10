"""The assignment chart: tiles for small groups, counts for large ones."""

import pytest
from plotly.graph_objects import Figure

from app.ui.charts import base, limits
from app.ui.theme import LIGHT
from app.views.group import charts
from app.views.group.view import NOBODY, Tile
from assignors.model import TopicPartition
from lag.verdict.status import Status


def lane(topic: str, numbers: list[int], kind: Tile = Tile.OK) -> list[tuple[TopicPartition, Tile]]:
    return [(TopicPartition(topic, n), kind) for n in numbers]


def texts(fig: Figure) -> list[str]:
    return sorted(
        word for trace in fig.data if trace.text is not None for row in trace.text for word in row if word.strip()
    )


def notes(fig: Figure) -> list[str]:
    return [note.text for note in fig.layout.annotations]


def test_each_partition_is_one_tile_in_its_owners_lane() -> None:
    fig = charts.tiles({"c1": lane("t", [0, 1]), "c2": lane("t", [2])}, {}, "none", LIGHT)
    assert texts(fig) == ["0", "1", "2"]
    heat = fig.data[0]
    assert [[z for z in row if z is not None] for row in heat.z] == [[0, 0], [0]]
    assert heat.customdata[1][0] == "t-2 · c2 · partition"
    assert notes(fig) == ["2", "1"]


def test_an_idle_member_keeps_its_row_and_says_why() -> None:
    fig = charts.tiles({"c1": lane("t", [0]), "c2": []}, {}, "no partition: 2 members, 1 partition", LIGHT)
    assert notes(fig) == ["1", "idle: no partition: 2 members, 1 partition"]


def test_what_comes_and_goes_is_outlined_and_not_counted_as_owned() -> None:
    lanes = {"c1": lane("t", [0], Tile.LEAVING), "c2": lane("t", [0], Tile.COMING)}
    fig = charts.tiles(lanes, {}, "", LIGHT)
    assert [shape.line.color for shape in fig.layout.shapes] == [LIGHT.revoked, LIGHT.gained]
    assert notes(fig) == ["1", "0"]


def test_a_tile_that_needs_attention_names_its_verdict() -> None:
    statuses = {TopicPartition("t", 0): Status.STALLED, TopicPartition("t", 1): Status.HELD}
    fig = charts.tiles({"c1": lane("t", [0, 1], Tile.BAD)}, statuses, "", LIGHT)
    assert list(fig.data[0].customdata[0][:2]) == ["t-0 · c1 · □ Stalled", "t-1 · c1 · ◆ Held"]
    assert len({z for z in fig.data[0].z[0] if z is not None}) == 2


def test_partitions_without_an_owner_have_a_lane() -> None:
    fig = charts.tiles({"c1": lane("t", [0]), NOBODY: lane("t", [1])}, {}, "", LIGHT)
    assert notes(fig) == ["1", "1"]


def test_several_topics_are_distinguished_by_letters() -> None:
    fig = charts.tiles({"c1": [*lane("orders", [0]), *lane("payments", [0])]}, {}, "", LIGHT)
    assert texts(fig) == ["a0", "b0"]
    assert base.letters(["payments", "orders"]) == {"orders": "a", "payments": "b"}
    assert base.letters(["orders"]) == {}


@pytest.mark.parametrize(
    ("members", "partitions", "longest", "are_tiles"),
    [(24, 400, 60, True), (25, 100, 10, False), (10, 401, 41, False), (2, 100, 61, False)],
)
def test_tiles_are_drawn_while_each_can_be_seen(members: int, partitions: int, longest: int, are_tiles: bool) -> None:
    assert limits.assignment_tiles(members, partitions, longest) is are_tiles


def test_counts_per_member_and_topic_keep_the_largest_rows() -> None:
    lanes = {f"m{i}": [*lane("a", list(range(i))), *lane("b", [0])] for i in range(80)}
    fig = charts.matrix(lanes, LIGHT)
    assert len(fig.data[0].z) == 60
    assert fig.data[0].z[0] == [79, 1]


def test_long_names_keep_head_and_tail() -> None:
    assert base.clip("a" * 22) == "a" * 22
    assert base.clip("consumer-billing-settlement-0001") == "consumer-b…lement-0001"
