"""The delivery lab's pictures: counts and fates of the ledger, a mark on each record that a step is about."""

from app.ui import theme
from app.views.labs.delivery import charts
from app.views.labs.delivery.tables import Mark, steps
from assignors.labs.delivery import STORIES, Lab, Ledger, Strategy, run


def drawn(name: str) -> tuple[Lab, Ledger]:
    story = STORIES[name]
    return story.lab, run(story.lab, story.failure)


def test_ledger_counts_and_has_the_result_of_each_record() -> None:
    fig = charts.ledger(*drawn("auto-commit-exception"), theme.LIGHT)
    words = fig.data[1].text
    assert list(fig.layout.yaxis.ticktext) == ["record", "delivered", "processed", "committed", "result"]
    assert [text.strip() for text in words[0]] == [str(offset) for offset in range(10)]
    assert list(fig.data[0].customdata[2][:3]) == ["0:0 · processed 1×", "0:1 · processed 1×", "0:2 · processed 0×"]
    results = [stated.partition(" · ")[2] for stated in fig.data[0].customdata[4]]
    assert results == ["once"] * 2 + ["lost"] * 3 + ["once"] * 5


def test_steps_mark_what_a_commit_moves_past_and_what_a_rewind_moves_back() -> None:
    lab, ledger = drawn("async-retry")
    rows = steps(lab, ledger)
    assert [row.label for row in rows] == [
        "A polls",
        "A processes",
        "A fails to commit",
        "A polls",
        "A processes",
        "A commits 4",
        "A commits 2",
        "A crashes",
        "B polls",
        "B processes",
        "B commits 4",
        "B polls",
        "B processes",
        "B commits 6",
        "B commits 6",
    ]
    assert set(rows[5].marks.values()) == {Mark.COMMITTED}
    assert [record.offset for record in rows[5].marks] == [0, 1, 2, 3]
    assert {record.offset: mark for record, mark in rows[6].marks.items()} == {2: Mark.REWOUND, 3: Mark.REWOUND}
    assert [row.label for row in rows if row.is_failure] == ["A crashes"]


def test_each_step_has_its_lane_and_a_failure_its_line() -> None:
    lab, ledger = drawn("database")
    fig = charts.steps(ledger.records, steps(lab, ledger), theme.DARK)
    assert list(fig.layout.yaxis.ticktext) == [
        "A polls",
        "A processes",
        "A crashes",
        "B polls",
        "B processes",
        "B commits 15",
    ]
    lines = [shape for shape in fig.layout.shapes if shape.type == "line"]
    assert [line.y0 for line in lines] == [2]


def test_two_partitions_are_parted() -> None:
    lab, ledger = drawn("per-partition")
    fig = charts.ledger(lab, ledger, theme.LIGHT)
    assert [shape.x0 for shape in fig.layout.shapes if shape.type == "line"] == [3.5]


def test_many_records_are_named_by_offset_alone() -> None:
    lab = Lab(Strategy.SYNC, (7, 6))
    fig = charts.ledger(lab, run(lab), theme.LIGHT)
    assert [text.strip() for text in fig.data[1].text[0]] == [*map(str, range(7)), *map(str, range(6))]
    assert fig.data[0].customdata[0][7] == "1:0"
