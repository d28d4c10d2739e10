"""Stories of the Delivery, Watermark and Call lab as files: round trip, edited, of earlier versions, refused."""

from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from app.views.labs.calls.state import LAB as CALLS
from assignors.labs import calls, delivery, watermark
from assignors.labs.story import from_file, to_file
from assignors.scenario import ScenarioError
from tests.app.conftest import Open
from tests.app.reading import asked
from tests.support.known import known, the

LABS = {"delivery": delivery.STORIES, "watermark": watermark.STORIES, "calls": calls.STORIES}
STORIES = [story for stories in LABS.values() for story in stories.values()]


def send(page: AppTest, text: str, name: str = "mine.yaml") -> AppTest:
    uploader: Any = page.get("file_uploader")[0]
    return the(AppTest, uploader.set_value((name, text.encode(), "text/plain")).run())


@pytest.mark.parametrize("story", STORIES, ids=lambda story: f"{story.lab_name} {story.name}")
def test_a_file_holds_the_whole_story(story: Any) -> None:
    text = to_file(story).decode()
    assert from_file(text.encode(), LABS[story.lab_name]) == story
    assert [line.partition(":")[0] for line in text.splitlines() if not line.startswith(" ")] == ["lab", *story.keys()]


def test_an_edited_file_is_played_in_the_delivery_lab(open_page: Open) -> None:
    text = to_file(delivery.STORIES["database"]).decode().replace("end: 15", "end: 12").replace("step: 6", "step: 3")
    page = send(open_page("delivery"), text)
    assert not page.exception
    assert page.title[0].value == "All 2 records are processed twice, none is lost"
    assert asked(page) == {"story": "database", "end": "12", "step": "3"}


def test_an_edited_file_is_played_in_the_watermark_lab(open_page: Open) -> None:
    text = to_file(watermark.STORIES["loss"]).decode()
    page = send(open_page("watermark"), text.replace("truncation: high-watermark", "truncation: leader-epoch"))
    assert not page.exception
    assert asked(page) == {"story": "loss", "truncation": "leader-epoch"}


OLD_DELIVERY = """# A story of groupscope's delivery lab. Change a value, and send it in again.
lab: delivery
strategy: workers-queues
end: 4, 5
start: 1, 0
batch_records: 2
every_records: 100
auto_commit_polls: 1
workers: 5
commits_on_revoke: yes
interceptor: drops
expired: 0:1, 1:4
poison: 1:2
on_poison: stop
failure: kicked
step: 3
failed_commits:\x20
outsider:\x20
"""
OLD_WATERMARK = (
    "# remarks\nlab: watermark\nstory: loss\ndo: p:m0.p1:m1.fl:B\ntruncation: leader-epoch\nunclean: no\nwaits: yes\n"
)


def test_files_of_earlier_versions_are_read() -> None:
    story = from_file(OLD_DELIVERY.encode(), delivery.STORIES)
    assert (story.lab.strategy, story.lab.end, story.lab.start) == (delivery.Strategy.WORKERS_QUEUES, (4, 5), (1, 0))
    assert (story.lab.commits_on_revoke, story.lab.poison) == (True, delivery.Record(1, 2))
    assert story.lab.expired == {delivery.Record(0, 1), delivery.Record(1, 4)}
    assert story.failure == delivery.Failure(delivery.FailureKind.KICKED, 3)
    loss = from_file(OLD_WATERMARK.encode(), watermark.STORIES)
    assert loss == watermark.STORIES["loss"].changed({"do": "p:m0.p1:m1.fl:B", "truncation": "leader-epoch"})


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("strategy: sync", "This is not a file of this lab. It needs the line `lab: delivery`."),
        ("lab: watermark\nstep: 1", "This is not a file of this lab."),
        ("lab: delivery\nstratgy: sync", "line 2: stratgy: This key is unknown. Did you mean 'strategy'?"),
        ("lab: delivery\n\nsync", "line 4: This is not YAML"),
        ("- lab", "This is not a file of this lab."),
        ("lab: delivery\nend: 5\nend: 6", "line 3: The key 'end'"),
        ("lab: delivery\nstep: 1\nend: soon", "line 3: end: 'soon' is not an offset for each partition"),
        ("lab: &a delivery", "line 1: Anchors (&) and aliases (*) are not allowed."),
        ("#" * 50_001, "The file has 50,001 bytes. A story has at most 50,000."),
    ],
)
def test_a_refused_file_says_where_and_why(text: Any, why: str) -> None:
    with pytest.raises(ScenarioError) as refusal:
        from_file(text.encode(), delivery.STORIES)
    assert str(refusal.value).startswith(why)


def test_bytes_that_are_not_text_are_refused() -> None:
    with pytest.raises(ScenarioError, match="is not UTF-8"):
        from_file(b"\xff\xfe", delivery.STORIES)


@pytest.mark.parametrize(
    ("lab", "text", "why"),
    [
        ("delivery", "lab: delivery\nstrategy: hope", "'hope' is not one of auto, sync"),
        ("watermark", "lab: watermark\ndo: fly", "'fly' is not an action"),
    ],
)
def test_a_wrong_value_is_named_and_the_page_stays(open_page: Open, lab: str, text: str, why: str) -> None:
    page = open_page(lab)
    before = page.title[0].value
    page = send(page, text, "mine.txt")
    assert not page.exception
    words = "\n".join(element.value for element in page.markdown).replace("\\", "")
    assert "mine.txt was not loaded" in words
    assert "**line 2**" in words
    assert why in words
    assert page.title[0].value == before


@pytest.mark.parametrize(
    "text", ["lab: calls\nstory: finder\nscript: find my-group\n", "story: finder\n# by hand\nfind my-group\n"]
)
def test_an_edited_file_is_played_in_the_call_lab(open_page: Open, text: str) -> None:
    page = send(open_page("calls"), text)
    assert page.selectbox(key="calls_story").value == "finder"
    assert known(page.text_area(key="calls_script").value).strip() == "find my-group"


def test_the_file_of_a_story_opens_that_story(open_page: Open) -> None:
    page = send(open_page("calls"), to_file(calls.STORIES["states"]).decode())
    assert asked(page) == {"story": "states"}


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("find my-group", "This is not a file of this lab. It needs the line `lab: calls`."),
        ("", "The file is empty."),
        ("story: nowhere\npoll", "story: There is no story 'nowhere'. Choose from "),
        ("story: finder\nfnd my-group", "Line 1: "),
        ("story: finder\n", "The script has no calls. Write one per line."),
        ("lab: calls\nscript: fly", "Line 1: there is no call 'fly'"),
    ],
)
def test_a_file_that_the_call_lab_cannot_play_changes_nothing(open_page: Open, text: str, why: str) -> None:
    page = send(open_page("calls", story="states"), text)
    assert asked(page) == {"story": "states"}
    with pytest.raises(ScenarioError) as refusal:
        CALLS.upload(text.encode(), "mine.yaml")
    assert str(refusal.value).startswith(why)
