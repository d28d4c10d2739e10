"""One generation, before and after."""

from app.ui.charts.limits import FIGURE_BYTES
from app.ui.movement.encoding import Picture
from app.ui.movement.step import one_step
from app.ui.theme import LIGHT
from tests.app.ui.movement.ownerships import many, steps


def lanes(picture: Picture) -> dict[str, list[str]]:
    """Lane -> labels of its tiles, from the traces that write them."""
    fig = picture.figure
    written: dict[str, list[tuple[int, str]]] = {name: [] for name in fig.layout.yaxis.ticktext}
    for trace in fig.data[1:]:
        for name, row in zip(written, trace.text, strict=True):
            written[name] += [(x, word) for x, word in enumerate(row) if word.strip()]
    return {name: [word for _, word in sorted(words)] for name, words in written.items()}


def notes(picture: Picture) -> list[str]:
    return [note.text for note in picture.figure.layout.annotations]


def test_a_lane_holds_what_is_kept_gained_and_given_up() -> None:
    picture = one_step(steps("aaabb", "aabbc"), 1, LIGHT)
    assert lanes(picture) == {"a": ["0", "1", "▼2"], "b": ["3", "▲2", "▼4"], "c": ["▲4"]}
    assert notes(picture) == ["2  −1", "2  +1 −1", "1  joined +1"]
    assert picture.figure.data[0].customdata[1][1] == "t-2 · a → b"
    assert picture.alt == "Generation 2: event 2; 2 of 5 partitions moved."


def test_a_member_that_left_keeps_its_lane() -> None:
    picture = one_step(steps("aabb", "aaaa"), 1, LIGHT)
    assert lanes(picture)["b"] == ["▼2", "▼3"]
    assert notes(picture)[1] == "0  left −2"


def test_an_idle_member_has_an_empty_lane() -> None:
    picture = one_step(steps("aa", "aa", there="z"), 1, LIGHT)
    assert lanes(picture)["z"] == []
    assert notes(picture)[1] == "0"


def test_unowned_partitions_have_a_lane_and_deleted_ones_have_not() -> None:
    picture = one_step(steps("aab.", "a.-."), 1, LIGHT)
    assert lanes(picture) == {"a": ["0", "▼1"], "b": ["▼2"], "unassigned": ["▼1", "✕3"]}


def test_given_up_tiles_are_outlined_not_filled() -> None:
    fig = one_step(steps("ab", "aa"), 1, LIGHT).figure
    assert [(shape.x0, shape.y0, shape.line.color) for shape in fig.layout.shapes] == [(-0.45, 0.6, LIGHT.revoked)]


def test_several_topics_get_letters_and_a_key() -> None:
    picture = one_step(steps("aa", topics={"orders": 1, "payments": 1}), 0, LIGHT)
    assert lanes(picture) == {"a": ["a0", "b0"]}
    assert picture.caption == "a orders, b payments"


def test_beyond_20_members_those_with_most_change_are_drawn() -> None:
    picture = one_step(many(500, 50, 2), 1, LIGHT)
    assert len(picture.figure.layout.yaxis.ticktext) == 20
    assert picture.caption == "30 more members with fewer changes"


def test_long_lanes_become_bars() -> None:
    made = many(1_000, 10, 2)
    fig = one_step(made, 1, LIGHT).figure
    assert {trace.type for trace in fig.data} == {"bar"}
    kept, gained, given = fig.data
    assert kept.x == (100, None, *[100] * 8)  # None and not 0: a bar of nothing would still have an outline
    assert gained.x == (None, None, 100, *[None] * 7)
    assert given.x == (None, 100, *[None] * 8)
    assert given.marker.color == LIGHT.background


def test_100_000_partitions_stay_in_the_budget() -> None:
    assert len(one_step(many(100_000, 500, 2, topics=20), 1, LIGHT).figure.to_json().encode()) < FIGURE_BYTES


def test_no_member_joins_in_the_first_generation_that_is_known() -> None:
    assert notes(one_step(steps("aa", there="z"), 0, LIGHT)) == ["2", "0"]
