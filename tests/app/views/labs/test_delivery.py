"""The Delivery lab: each story by its link, the stepper, what is changed by hand, and links that cannot be."""

from typing import Any

import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

from app.ui.labs import link_codec
from app.views.labs.delivery import text
from assignors.labs.delivery import STORIES, Failure, FailureKind, Lab, Record, Strategy, run
from assignors.model import AssignorError
from tests.app.conftest import Open
from tests.app.reading import asked, figure, page_text, table, title

ONCE = "All 5 records are processed exactly once"


def strategies(page: AppTest) -> pd.DataFrame:
    return table(page, "commit strategies").set_index("short")


def test_page_opens_with_the_database_example_that_ends_at_15(open_page: Open) -> None:
    page = open_page("delivery")
    assert not page.exception
    assert title(page) == "All 5 records are processed twice, none is lost"
    assert (
        "Records 10 to 14 are processed twice, because A had processed them and not committed them\\: "
        "B began at the committed offset 10\\."
    ) in page_text(page)
    assert list(table(page, "Each record").iloc[0]) == ["10", 2, 2, 1, "twice"]
    assert "B commits 15" in figure(page, "delivery_steps")["layout"]["yaxis"]["ticktext"]


@pytest.mark.parametrize("story", STORIES.values(), ids=lambda story: story.name)
def test_every_story_opens_by_its_link(open_page: Open, story: Any) -> None:
    page = open_page("delivery", **link_codec.encode(story, STORIES))
    assert not page.exception
    assert page.selectbox(key="delivery_story").value == story.name
    assert title(page) == text.headline(run(story.lab, story.failure))


def test_a_story_chosen_stands_in_the_url(open_page: Open) -> None:
    page = open_page("delivery").selectbox(key="delivery_story").select("auto-commit-exception").run()
    assert title(page) == "No record is processed twice, 3 are lost"
    assert "closing the consumer committed its position" in page_text(page)
    assert asked(page) == {"story": "auto-commit-exception"}
    assert any("auto\\-commit loses the rest of the batch" in element.help for element in page.markdown)


def test_a_parameter_beside_a_story_changes_that_story() -> None:
    parameters = {"story": "auto-commit-exception", "batch_records": "4"}
    story = link_codec.decode(parameters, STORIES)
    assert story == STORIES["auto-commit-exception"].changed({"batch_records": 4})
    assert (story.lab.batch_records, story.lab.end) == (4, (10,))
    assert link_codec.encode(story, STORIES) == parameters


def test_next_step_is_behind_the_commit_and_nothing_comes_twice(open_page: Open) -> None:
    page = open_page("delivery")
    page = next(button for button in page.button if button.label == "Next").click().run()
    assert title(page) == ONCE
    assert asked(page)["step"] == "7"
    assert next(button for button in page.button if button.label == "Next").disabled
    assert page.selectbox(key="delivery_story").value == "database"
    assert "changed" in page_text(page)


def test_another_strategy_keeps_the_moment(open_page: Open) -> None:
    page = open_page("delivery").selectbox(key="delivery_strategy").select(Strategy.COMMIT_FIRST).run()
    assert not page.exception
    assert title(page) == ONCE
    assert asked(page)["step"] == "7"  # its poll, its commit, and five records


def test_side_by_side_marks_the_strategy_above(open_page: Open) -> None:
    shown = strategies(open_page("delivery"))
    assert list(shown.index[:2]) == ["auto-commit", "▸ sync per batch"]
    assert tuple(shown.loc["commit first"][["twice", "lost", "most_lost", "guarantee"]]) == (0, 0, 5, "at most once")


def test_a_smaller_log_takes_the_failure_to_its_last_step(open_page: Open) -> None:
    page = open_page("delivery").text_input(key="delivery_end").input("12").run()
    assert not page.exception
    assert asked(page)["end"] == "12"
    assert asked(page)["step"] == "4"  # a poll, two records and their commit


@pytest.mark.parametrize(
    ("typed", "why"),
    [
        ("soon", "end\\: 'soon' is not an offset for each partition, such as 10, 0\\."),
        ("9", "Partition 0 starts at 10 and ends at 9\\. Use 0 \\<= start \\<= end\\."),
        ("31", "The lab has 21 records and 1 partitions\\. Use 1 to 20 records and 1 to 4 partitions\\."),
        ("10", "The lab has 0 records and 1 partitions\\."),
    ],
)
def test_what_cannot_be_is_refused_and_the_page_stays(open_page: Open, typed: str, why: str) -> None:
    page = open_page("delivery").text_input(key="delivery_end").input(typed).run()
    assert not page.exception
    assert why in page_text(page)
    assert title(page) == "All 5 records are processed twice, none is lost"
    assert page.text_input(key="delivery_end").value == "15"
    assert "end" not in page.query_params


@pytest.mark.parametrize(
    ("parameters", "why"),
    [
        ({"story": "hope"}, "story: There is no story 'hope'. Choose from database, nothing-fails,"),
        ({"strategy": "hope"}, "strategy: 'hope' is not one of auto, sync, async, async-retry,"),
        ({"step": "8"}, "Step 8 is outside the consumer's 7 steps. Use 0 to 7."),
        ({"step": "-1"}, "step: '-1' is not a whole number."),
        ({"end": "٣"}, "end: '٣' is not an offset for each partition"),
        ({"end": "9" * 70}, f"end: '{'9' * 59}…' is not"),
        ({"batch_records": "0"}, "batch_records is 0. Use 1 or more."),
        ({"workers": "1000000"}, "The lab has 1,000,000 workers. Use 1 to 16."),
        ({"poison": "0:99"}, "There is no record 0:99"),
        ({"expired": "7:0"}, "There is no record 7:0"),
        ({"commits_on_revoke": "maybe"}, "commits_on_revoke: 'maybe' is not yes or no."),
        ({"failure": "outsider-accepted"}, "The standalone consumer commits ()"),
    ],
)
def test_a_link_that_cannot_be_played_says_why(open_page: Open, parameters: Any, why: str) -> None:
    with pytest.raises(AssignorError) as refusal:
        link_codec.decode(parameters, STORIES)
    assert str(refusal.value).startswith(why)
    page = open_page("delivery", **parameters)
    assert not page.exception
    assert title(page) == "This link is invalid"
    page = page.button(key="begin_again").click().run()
    assert title(page) == "All 5 records are processed twice, none is lost"


def test_an_interceptor_and_a_poisonous_record_can_be_set_by_hand(open_page: Open) -> None:
    page = open_page("delivery", failure="none", step="0")
    page = page.text_input(key="delivery_poison").input("0:12").run()
    assert title(page) == "No record is processed twice and none is lost, 3 records are stuck"
    page = page.selectbox(key="delivery_on_poison").select("seeks past it").run()
    assert "Record 12 is skipped\\: the application seeks past it" in page_text(page)


def test_a_standalone_consumer_has_something_to_commit_at_once(open_page: Open) -> None:
    page = open_page("delivery").selectbox(key="delivery_failure").select(FailureKind.OUTSIDER_ACCEPTED).run()
    assert page.text_input(key="delivery_outsider").value == "10"
    page = page.text_input(key="delivery_outsider").input("15").run()
    assert title(page) == ONCE


def test_link_holds_everything_that_differs_from_the_first_story() -> None:
    lab = Lab(Strategy.WORKERS_QUEUES, (4, 5), (1, 0), 2, 3, 4, 5, commits_on_revoke=True, poison=Record(1, 2))
    failure = Failure(FailureKind.KICKED, 3)
    values = {name: getattr(lab, name) for name in Lab.__dataclass_fields__}
    story = STORIES["database"].changed({**values, "failure": failure.kind, "step": failure.step})
    assert (story.lab, story.failure) == (lab, failure)
    parameters = link_codec.encode(story, STORIES)
    assert (parameters["story"], parameters["end"], parameters["poison"]) == ("database", "4, 5", "1:2")
    assert link_codec.decode(parameters, STORIES) == story
    del parameters["story"]
    assert link_codec.decode(parameters, STORIES) == story


def test_a_value_that_is_taken_out_of_a_story_stays_out(open_page: Open) -> None:
    page = open_page("delivery", story="poison").text_input(key="delivery_poison").input("").run()
    assert not page.exception
    assert asked(page)["poison"] == "none"
    assert title(page) == "4 of 5 records are processed twice, none is lost"


@pytest.mark.parametrize(
    ("step", "why"),
    [
        (8, "None is processed twice, because B began at the committed offset 4,"),
        (9, "Records 2 and 3 are processed twice, because the retried commit arrived after a newer one"),
        (12, "Records 2 to 5 are processed twice, because the retried commit arrived after a newer one"),
        (13, "None is processed twice, because B began at the committed offset 6,"),
    ],
    ids=["newer commit", "sent again", "two more records", "their commit"],
)
def test_a_commit_sent_again_is_to_blame_while_it_is_the_last(step: int, why: str) -> None:
    lab = Lab(Strategy.ASYNC_RETRY, (6,), batch_records=2)
    failure = Failure(FailureKind.CRASH, step, frozenset({0}))
    assert text.twice(lab, failure, run(lab, failure)).startswith(why)


@pytest.mark.parametrize(
    ("strategy", "kind", "numbers"),
    [
        (Strategy.SYNC, FailureKind.CRASH, "8 processed − 5 committed (1 commit × 5) = 3 twice"),
        (Strategy.AUTO, FailureKind.CRASH, "8 processed − 5 committed (1 auto-commit × 1 poll × 5) = 3 twice"),
        (Strategy.AUTO, FailureKind.EXCEPTION, "10 committed (close() covers 2 polls × 5) − 8 processed = 2 lost"),
        (Strategy.EVERY_N, FailureKind.CRASH, "7 processed − 6 committed (2 commits × 3) = 1 twice"),
        (
            Strategy.EVERY_N_FROM_ZERO,
            FailureKind.CRASH,
            "7 processed − 4 committed ((2 commits − 1) × 3 + 1) = 3 twice",
        ),
        (Strategy.COMMIT_FIRST, FailureKind.CRASH, "10 committed (2 commits × 5) − 7 processed = 3 lost"),
        (Strategy.EXTERNAL, FailureKind.CRASH, "9 processed − 9 committed (with each result) = 0 twice"),
        (Strategy.ASYNC_RETRY, FailureKind.CRASH, None),
    ],
    ids=lambda value: value.name if isinstance(value, Strategy | FailureKind) else "",
)
def test_closed_form_of_what_eleven_steps_of_17_records_cost(strategy: Any, kind: Any, numbers: str | None) -> None:
    lab = Lab(strategy, (17,), batch_records=5, every_records=3)
    assert text.in_numbers(lab, Failure(kind, 11)) == numbers


def test_closed_form_stands_under_the_reasons(open_page: Open) -> None:
    page = open_page("delivery")
    assert "In numbers: 5 processed − 0 committed" in page_text(page)
