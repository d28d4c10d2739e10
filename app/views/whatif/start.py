"""Where a what-if starts: a live group, a bundled example, a file or a link."""

import streamlit as st

from app.pages import BY_NAME
from app.ui import downloads, formats, state, upload, widgets
from app.ui.labs.story import statements
from app.ui.scenario import draft_state
from app.ui.scenario.draft import Draft
from assignors.labs.checklist import Page
from assignors.scenario import dump, examples
from lag.generations.changes import changes
from lag.generations.live_group import revision

MOST_CHANGES = 3
LIVE, EXAMPLE, FILE = "Live group", "Example", "File"
_EXAMPLE_KEY = "example:"
_KIND, _KIND_OF, _UPLOAD = "whatif_kind", "_whatif_kind_of", "whatif_file"


def source(page: state.Shown | None, its: Draft | None) -> None:
    """Choose a live group, a bundled example or a file; share what is shown."""
    _follow(its)
    with st.container(horizontal=True, gap="small", vertical_alignment="center"):
        kind = st.segmented_control("Start from", [LIVE, EXAMPLE, FILE], key=_KIND, label_visibility="collapsed")
        if kind == LIVE:
            draft_state.live_group_picker(page, its.group_id if its else None, "whatif_group")
        elif kind == EXAMPLE:
            _example(its)
        elif kind == FILE:
            upload.uploader(_UPLOAD, draft_state.start_from_file)
        else:
            st.markdown(f":small[:gray[from a link:] {formats.md(its.title if its else '')}]", width="content")
        st.space("stretch")
        if its is not None:
            _links(its)
    if kind == FILE:
        upload.problems(_UPLOAD)


def _follow(its: Draft | None) -> None:
    """Show the kind of the current start, until the viewer chooses another."""
    begun = its.key if its else None
    if _KIND not in st.session_state or st.session_state.get(_KIND_OF) != begun:
        st.session_state[_KIND], st.session_state[_KIND_OF] = _kind(its), begun


def _kind(its: Draft | None) -> str | None:
    if its is None or its.group_id is not None:
        return LIVE
    return {"example": EXAMPLE, "file": FILE}.get(its.key.partition(":")[0])


def _example(its: Draft | None) -> None:
    widgets.picker(
        "Example",
        list(examples()),
        its.key.removeprefix(_EXAMPLE_KEY) if its and its.key.startswith(_EXAMPLE_KEY) else None,
        "whatif_example",
        lambda name: draft_state.start(example=name or ""),
        placeholder="Choose an example",
        format_func=lambda name: name.replace("-", " "),
        width=300,
    )


def _links(its: Draft) -> None:
    """Step through it under Generations; the scenario as a file, and as a link when it is small."""
    in_link = draft_state.is_in_link()
    widgets.page_button(
        "Generations",
        "generations",
        draft_state.parameters,
        icon=":material/timeline:",
        key="whatif_to_generations",
        disabled=not in_link,
        help="Each generation of this scenario" if in_link else "This scenario is too large for a link to another page",
    )
    with st.popover("Share", icon=":material/share:", type="tertiary"):
        downloads.button(
            "Scenario file", lambda: dump(its.scenario).encode(), "scenario.yaml", "application/yaml", "whatif_download"
        )
        link = "Or copy the address of this page: it contains the whole scenario."
        st.markdown(f":small[{link if in_link else 'The scenario is too large for a link: send the file.'}]")


def nothing_chosen() -> None:
    """The page without a start: what it is for."""
    st.title(BY_NAME["whatif"].question, anchor=False)
    st.markdown(
        "Choose a live group, an example or a scenario file, then add events: members join or leave, a topic gets more "
        "partitions, the assignor changes. The page computes the result of each of Kafka's assignors, exactly as Kafka "
        "does."
    )


def gallery() -> None:
    """The bundled examples, each with what it shows; a click opens it."""
    frame = draft_state.gallery()
    widgets.titled("Examples", f":gray[{len(frame)}, included in groupscope]")
    c = st.column_config
    widgets.table(
        frame,
        key="gallery",
        most=len(frame),
        alt="The bundled examples: what each shows, its assignor, members, partitions and events",
        columns={
            "example": widgets.page_opener("Example", "open_example", 208, frame["example"], "whatif", "example"),
            "shows": c.TextColumn("What it shows", width=652),
            "assignor": c.TextColumn("Assignor", width=130),
            "members": widgets.integer("Members", 76),
            "partitions": widgets.integer("Partitions", 84),
            "events": widgets.integer("Events", 64),
        },
    )


# -- notes -------------------------------------------------------------------------------------------------------------


def notes(page: state.Shown | None, its: Draft) -> None:
    """What the example shows, what is estimated or unknown, and whether the live group has changed since."""
    if page is not None and its.group_id is not None:
        _changed(page, its)
    texts = [formats.md(text) for text in (its.scenario.description, *its.notes) if text]
    if texts:
        help_ = statements(Page.WHATIF, its.key.removeprefix(_EXAMPLE_KEY))
        st.markdown(f":small[:gray[{' '.join(texts)}]]", help=help_)


def _changed(page: state.Shown, its: Draft) -> None:
    group = page.report.snapshot.group(its.group_id or "")
    if group is None:
        gone = f"{formats.code(its.group_id or '')} no longer exists"
        widgets.line(":orange", "sync_problem", gone, "this is its last known state")
        return
    if its.revision is not None and its.revision == revision(group):
        return
    if different := changes(its.scenario, group, page.report.snapshot.topics):
        _offer_again(its, different)


def _offer_again(its: Draft, different: list[str]) -> None:
    more = " …" if len(different) > MOST_CHANGES else ""
    listed = "; ".join(map(formats.md, different[:MOST_CHANGES])) + more
    group = its.group_id or ""
    with st.container(horizontal=True, gap="small", vertical_alignment="center"):
        head = ":orange[:material/sync_problem: The group has changed since the start of this what-if:]"
        st.markdown(f":small[{head} {listed}]", width="content")
        st.button(
            "Start again",
            type="tertiary",
            icon=":material/refresh:",
            help=f"Start again from the current state of {formats.code(group)}",
            on_click=lambda: draft_state.start(group=group),
        )
