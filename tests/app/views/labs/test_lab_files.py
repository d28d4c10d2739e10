"""Stories of the Delivery, Watermark and Call lab as files: there and back, edited, and those that are refused."""

import pytest

from app.ui import lab_files
from app.views.labs.calls import link as links_calls
from app.views.labs.calls import state as state_calls
from app.views.labs.delivery import link as links_delivery
from app.views.labs.delivery import state as state_delivery
from app.views.labs.watermark import link as links_watermark
from app.views.labs.watermark import state as state_watermark
from assignors.labs import delivery, watermark
from assignors.scenario import ScenarioError


def asked(page):
    return {name: value if isinstance(value, str) else value[0] for name, value in page.query_params.items()}


def send(page, text):
    return page.get("file_uploader")[0].set_value(("mine.txt", text.encode(), "text/plain")).run()


@pytest.mark.parametrize("story", delivery.STORIES, ids=lambda story: story.name)
def test_a_file_of_the_delivery_lab_says_all(story):
    said = lab_files.read(state_delivery.as_file(story.lab, story.failure), "delivery", links_delivery.NAMES)
    assert set(said) == set(links_delivery.PARAMETERS.values())
    assert links_delivery.decode(said) == (story.lab, story.failure)


@pytest.mark.parametrize("story", watermark.STORIES, ids=lambda story: story.name)
def test_a_file_of_the_watermark_lab_says_all(story):
    said = lab_files.read(state_watermark.as_file(story), "watermark", links_watermark.PARAMETERS)
    assert set(said) == set(links_watermark.PARAMETERS)
    assert links_watermark.decode(said) == story


def test_an_edited_file_is_played_in_the_delivery_lab(open_page):
    story = links_delivery.BY_NAME["database"]
    text = state_delivery.as_file(story.lab, story.failure).decode().replace("end: 15", "end: 12")
    page = send(open_page("delivery"), text.replace("step: 6", "step: 3"))
    assert not page.exception
    assert page.header[0].value == "All 2 records are processed twice, none is lost"
    assert asked(page) == {"end": "12", "step": "3"}


def test_an_edited_file_is_played_in_the_watermark_lab(open_page):
    text = state_watermark.as_file(links_watermark.BY_NAME["loss"]).decode()
    page = send(open_page("watermark"), text.replace("truncation: high-watermark", "truncation: leader-epoch"))
    assert not page.exception
    assert asked(page) == {"story": "loss", "truncation": "leader-epoch", "step": "1"}


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("strategy: sync", "This is no file of the delivery lab. It needs the line `lab: delivery`."),
        ("lab: watermark\nstep: 1", "This is no file of the delivery lab."),
        ("lab: delivery\nstratgy: sync", "line 2: There is no 'stratgy' here. Did you mean 'strategy'?"),
        ("lab: delivery\n\nsync", "line 3: 'sync' is not `name: value`."),
        ("lab: delivery\nend: 5\nend: 6", "line 3: end is said twice. Leave one out."),
        ("#" * 20_001, "The file has 20,001 bytes. Use at most 20,000."),
    ],
)
def test_a_file_that_is_none_says_where_and_why(text, why):
    with pytest.raises(ScenarioError) as refusal:
        lab_files.read(text.encode(), "delivery", links_delivery.NAMES)
    assert str(refusal.value).startswith(why)


def test_bytes_that_are_no_text_are_refused():
    with pytest.raises(ScenarioError, match="no UTF-8 text"):
        lab_files.read(b"\xff\xfe", "delivery", links_delivery.NAMES)


@pytest.mark.parametrize(
    ("lab", "text", "why"),
    [
        ("delivery", "lab: delivery\nstrategy: hope", "strategy is 'hope'"),
        ("watermark", "lab: watermark\ndo: fly", "'fly' is no action"),
    ],
)
def test_a_value_that_cannot_be_is_told_and_the_page_stays(open_page, lab, text, why):
    page = open_page(lab)
    before = page.header[0].value
    page = send(page, text)
    assert not page.exception
    told = "\n".join(element.value for element in page.markdown).replace("\\", "")
    assert "mine.txt was not taken" in told
    assert why in told
    assert page.header[0].value == before


def test_an_edited_file_is_played_in_the_call_lab(open_page):
    text = state_calls.as_file(links_calls.BY_NAME["finder"]).decode()
    head, story, *_ = text.splitlines()
    assert (head[0], story) == ("#", "story: finder")
    page = send(open_page("calls"), f"{story}\n# by hand\nfind my-group\n")
    assert not page.exception
    assert (page.selectbox(key="calls_story").value, page.text_area(key="calls_script").value) == (
        "finder",
        "find my-group\n",
    )


def test_the_file_of_a_story_as_it_is_opens_that_story(open_page):
    page = send(open_page("calls"), state_calls.as_file(links_calls.BY_NAME["states"]).decode())
    assert asked(page) == {"story": "states"}


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("find my-group", "This is no file of the call lab. It begins with the line `story: NAME`."),
        ("", "This is no file of the call lab."),
        ("story: nowhere\npoll", "There is no story 'nowhere'. There are "),
        ("story: finder\nfnd my-group", "Line 1: "),
        ("story: finder\n", "The script has no calls. Write one a line."),
    ],
)
def test_a_file_that_the_call_lab_cannot_play_changes_nothing(open_page, text, why):
    page = send(open_page("calls", story="states"), text)
    assert asked(page) == {"story": "states"}
    with pytest.raises(ScenarioError) as refusal:
        state_calls.take(text.encode(), "mine.txt")
    assert str(refusal.value).startswith(why)
