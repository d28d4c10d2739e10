"""The story of a lab: from the link, with a head that chooses, describes, downloads and uploads it."""

from collections.abc import Callable, Iterable
from functools import partial

import streamlit as st

from app.ui import formats, state, upload, widgets
from app.ui.charts.lanes import Style
from app.ui.labs.lab_state import STEP, LabState, S
from app.ui.stepper import go, stepper
from assignors.labs.checklist import Page, rows_of
from assignors.model import AssignorError


def linked(lab: LabState[S]) -> S:
    """The story of the URL. An invalid link shows the reason and a button to the first story, and stops the page."""
    widgets.follow()
    try:
        return lab.current()
    except AssignorError as error:
        st.title("This link is invalid", anchor=False)
        widgets.line(":red", "error", "It was changed or truncated", formats.md(str(error)))
        st.button(
            "Open the first story",
            icon=":material/restart_alt:",
            key="begin_again",
            on_click=lab.open,
            args=(lab.first,),
        )
        st.stop()


def head(lab: LabState[S], story: S) -> None:
    """Choose another story, read what this one shows, download it or upload one."""
    with st.container(horizontal=True, gap="small", vertical_alignment="center"):
        widgets.picker(
            "Story",
            list(dict.fromkeys([*lab.stories, story.name])),
            story.name,
            f"{lab.name}_story",
            lambda name: lab.open(lab.stories[name]),
            format_func=lambda name: (story if name == story.name else lab.stories[name]).title,
            width=400,
        )
        badge = " :orange-badge[changed]" if lab.is_changed(story) and story.name in lab.stories else ""
        st.markdown(
            f":small[:gray[{formats.md(story.shows)}]]{badge}" if story.shows else "",
            width="stretch",
            help=statements(Page(lab.name), story.name),
        )
        upload.story_file(f"{lab.name}_file", f"{lab.name}.yaml", lambda: lab.file(story), lab.upload)
    upload.problems(f"{lab.name}_file")


def step_controls(at: int, last: int, text: Callable[[int], str]) -> None:
    """Previous, next and the slider over the steps 0 to `last`."""
    if last:
        with st.container(horizontal=True, gap="small", vertical_alignment="center"):
            stepper(STEP, at, last, "Step", text, partial(go, STEP))


def refusal(lab: LabState[S]) -> None:
    """Why the last change was refused."""
    if (why := lab.refusal()) is not None:
        widgets.line(":red", "error", "Not changed", formats.md(why))


def legend(entries: Iterable[tuple[Style, str]]) -> str:
    """A legend of (style, word): a filled tile has the colour of its fill, an outlined one that of its ink."""
    colours = state.palette()
    fills = {colours.kept_fill: colours.kept}  # too pale for a letter
    return widgets.swatches(
        (look.glyph or "■", look.ink if look.outline else fills.get(look.fill, look.fill), word)
        for look, word in entries
    )


def statements(page: Page, story: str) -> str | None:
    """The statements about Kafka that a story checks, and whether they hold; None without any."""
    rows = rows_of(page, story)
    return "\n\n".join(f"{formats.md(row.claim)} **{formats.md(row.fact)}**" for row in rows) or None
