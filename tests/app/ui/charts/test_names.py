"""The names in a figure are text: a tag in one is shown, not obeyed."""

import numpy as np
import plotly.graph_objects as go

from app.ui.charts.names import as_text

LINK = "<a href='https://evil.example'>go</a>"
SHOWN = "&lt;a href='https://evil.example'>go&lt;/a>"


def test_tags_in_names_are_shown_wherever_they_stand() -> None:
    figure = go.Figure(
        go.Scatter(x=[1, 2], y=[LINK, "b"], text=[LINK, None], customdata=[[LINK, 1], ["c", 2]], name=LINK)
    )
    figure.add_annotation(text=LINK)
    figure.update_xaxes(ticktext=[LINK, "<b>bold</b>"])
    found = as_text(figure)
    assert (found.data[0].name, list(found.data[0].y), list(found.data[0].text)) == (SHOWN, [SHOWN, "b"], [SHOWN, None])
    assert [list(row) for row in found.data[0].customdata] == [[SHOWN, 1], ["c", 2]]
    assert (found.layout.annotations[0].text, list(found.layout.xaxis.ticktext)) == (SHOWN, [SHOWN, "<b>bold</b>"])


def test_members_in_a_flow_and_in_the_frames_of_an_animation_are_text() -> None:
    figure = go.Figure(go.Sankey(node={"label": [LINK]}, link={"source": [0], "target": [0], "value": [1]}))
    figure.frames = [go.Frame(data=[go.Scatter(text=[LINK])])]
    found = as_text(figure)
    assert list(found.data[0].node.label) == [SHOWN]
    assert list(found.frames[0].data[0].text) == [SHOWN]


def test_what_has_no_tag_stays_as_it_is() -> None:
    numbers = np.arange(5)
    figure = go.Figure(go.Bar(x=numbers, y=numbers, hovertemplate="%{y}<br>%{x}<extra></extra>"))
    before = figure.to_json()
    assert as_text(figure).to_json() == before
