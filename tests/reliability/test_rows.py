"""The page as it is written, from rows that are fixed and from those that were measured."""

from pathlib import Path

from tests.reliability.faults import ORDER
from tests.reliability.rows import PAGE, FaultRow, keep, read, render, shown_on

KILLED = FaultRow(
    fault="Broker killed",
    made="SIGKILL",
    seen="“broker 1 cannot be reached | gone”",
    seconds=1.44,
    polls=1,
    wrong=0,
    lost=0,
    doubled=0,
    page_up=True,
    measured="2026-11-26",
)
RANDOM = FaultRow("Random records", "1,000 records", "all read", None, None, 0, 2, 1, False, "2026-11-25")


def test_a_row_of_the_page() -> None:
    text = render([KILLED, RANDOM], "2 cores")
    assert "Measured on 2 cores.\n" in text
    assert [line for line in text.splitlines() if "2026-11-2" in line] == [
        "| Broker killed | SIGKILL | “broker 1 cannot be reached \\| gone” | 1.4 s | 1 | 0 | 0 | 0 | up | 2026-11-26 |",
        "| Random records | 1,000 records | all read | – | – | 0 | 2 | 1 | down | 2026-11-25 |",
    ]


def test_what_the_suite_does_not_accept() -> None:
    assert KILLED.shortcomings() == []
    assert KILLED.shortcomings(most_polls=0) == ["right again only after 1 polls"]
    assert RANDOM.shortcomings() == ["the page did not always answer", "2 rows lost", "1 rows twice"]


def test_a_row_takes_the_place_of_an_earlier_one_of_the_same_fault(tmp_path: Path) -> None:
    stored, page = tmp_path / "measured.json", tmp_path / "page.md"
    for row in (RANDOM, KILLED, KILLED):
        keep(row, ORDER, stored, page)
    assert read(stored) == [KILLED, RANDOM]
    assert page.read_text().count("| 2026-11-2") == 2


def test_the_page_is_that_of_the_stored_rows() -> None:
    page = PAGE.read_text()
    assert page == render(read(), shown_on(page))
