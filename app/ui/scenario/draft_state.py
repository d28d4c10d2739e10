"""What a what-if page remembers: the draft of this session, kept in step with the URL, and outcomes, cached.

URL parameters: `group` (a live group), `example`, or `scenario` (packed, as soon as it is edited and small enough);
`assignor`, `gen` and `topic` say what is looked at.
"""

import re
from collections.abc import Callable, Sequence
from functools import partial
from hashlib import sha256

import pandas as pd
import streamlit as st

from app.plugins import DEADLINE_S, fold_any, not_kafkas
from app.server import source
from app.server.workers.pool import NotComputed, TimedOut, computed
from app.ui import scenario_files, state, widgets
from app.ui.labs import link_codec
from app.ui.scenario.draft import Draft
from app.whatif_limits import TIMES_FOR_COMMAND, excess
from assignors.model import AssignorError
from assignors.scenario import check_bytes, dump, examples, load_scenario
from assignors.simulation.fold import fold
from assignors.whatif.comparison import SHARE, Outcome, compatible_assignors, with_change_to
from assignors.whatif.events import Scenario
from assignors.whatif.generations import Generation
from lag.errors import GroupscopeError
from lag.generations.live_group import scenario_of

_DRAFT = "_draft"
_DRAFT_URL = "_draft_url"
_IN_LINK = "_draft_in_link"
_ANSWERED = "_draft_answered"
_PARAMETERS = ("group", "example", "scenario", "cluster")
_LOOKED_AT = ("assignor", "gen", "topic")
WITHOUT_LIMIT = "Remove events, or use `groupscope assign`, which has no such limit."
IN_COMMAND = f"Remove events, or use `groupscope assign`, which takes {TIMES_FOR_COMMAND} times as much."


def draft(page: state.Shown | None) -> Draft | None:
    """The draft of this session; a fresh link or the browser's back button replaces it.

    None when the URL names no start. Raises AssignorError or GroupscopeError when what it names cannot be started from.
    """
    if st.session_state.get(_DRAFT_URL) != _url():
        st.session_state.pop(_DRAFT, None)
        made = _from_url(page)
        if made is None:
            return None
        _keep(made, in_link=True)
    kept: Draft | None = st.session_state.get(_DRAFT)
    return kept


def edit(change: Callable[[Draft], Draft]) -> None:
    """Change the draft as it is now; the URL then holds it whole if it is small enough."""
    changed = change(st.session_state[_DRAFT])
    packed = link_codec.pack(changed.scenario)
    state.set_url("scenario", packed)
    state.set_url("example", None)
    _keep(changed, packed is not None)


def is_in_link() -> bool:
    """Whether the URL says all of the draft."""
    return bool(st.session_state.get(_IN_LINK))


@st.cache_resource(show_spinner=False)
def gallery() -> pd.DataFrame:
    """One row per bundled example: example, shows, assignor, members, partitions, events."""
    rows = []
    for name, path in examples().items():
        its = load_scenario(path)
        partitions = sum(topic.partitions for topic in its.topics.values())
        rows.append((name, its.description, its.assignor, len(its.members), partitions, len(its.events)))
    return pd.DataFrame(rows, columns=["example", "shows", "assignor", "members", "partitions", "events"])


def start(**parameters: str) -> None:
    """Start again from another start: `group=`, `example=`, or nothing."""
    for name in ("group", "example", "scenario", *_LOOKED_AT, "generation", "at", "protocol", "story"):
        state.set_url(name, parameters.get(name))
    st.session_state.pop(_DRAFT, None)
    st.session_state.pop(_DRAFT_URL, None)


def parameters() -> dict[str, str]:
    """What a link to the same start on another page needs in its URL."""
    return {name: value for name in (*_PARAMETERS, *_LOOKED_AT) if (value := state.url(name)) is not None}


def start_from_file(data: bytes, name: str) -> None:
    """Start again from an uploaded file. Raises ScenarioError."""
    scenario = scenario_files.uploaded(data, name)
    packed = link_codec.pack(scenario)
    start()
    state.set_url("scenario", packed)
    _keep(Draft(f"file:{sha256(data).hexdigest()}", scenario.name, scenario), packed is not None)


def hand_over(scenario: Scenario) -> dict[str, str]:
    """Make the scenario the draft that What-if begins with, and give the URL parameters it needs to do so."""
    packed = link_codec.pack(scenario)
    given = {} if packed is None else {"scenario": packed}
    key = f"given:{sha256(dump(scenario).encode()).hexdigest()}"
    _keep(Draft(key, scenario.name, scenario), packed is not None)
    st.session_state[_DRAFT_URL] = tuple({"cluster": state.url("cluster"), **given}.get(name) for name in _PARAMETERS)
    return given


def _keep(made: Draft, in_link: bool) -> None:
    st.session_state[_DRAFT] = made
    st.session_state[_IN_LINK] = in_link
    st.session_state[_DRAFT_URL] = _url()


def _url() -> tuple[str | None, ...]:
    return tuple(state.url(name) for name in _PARAMETERS)


def _from_url(page: state.Shown | None) -> Draft | None:
    group, example, packed = state.url("group"), state.url("example"), state.url("scenario")
    if packed is not None:
        scenario = link_codec.unpack(packed)
        return Draft(f"link:{sha256(packed.encode()).hexdigest()}", scenario.name, scenario, group_id=group)
    if example is not None:
        return _from_example(example)
    return None if group is None or page is None else from_group(page, group)


def _from_example(name: str) -> Draft:
    found = examples().get(name)
    if found is None:
        raise AssignorError(f"There is no example {name!r}. Use one of {', '.join(examples())}.")
    scenario = check_bytes(found.read_bytes(), found.name).scenario
    return Draft(f"example:{name}", scenario.name, scenario)


def from_group(page: state.Shown, group_id: str) -> Draft:
    """A draft of a live group as it is now. Raises GroupscopeError when there is nothing to start from."""
    group = page.report.snapshot.group(group_id)
    if group is None:
        raise GroupscopeError(
            f"{group_id} is not on this cluster", "It was deleted or has expired: choose another group"
        )
    collector = source.current().feeds[page.cluster]
    live = scenario_of(group, page.report.health, collector.share_targets(group_id))
    key = f"live:{page.cluster}:{group_id}:{live.revision}:{page.report.snapshot.at_ms}"
    return Draft(key, group_id, live.scenario, live.notes, group_id, live.revision)


def live_group_picker(page: state.Shown | None, chosen: str | None, key: str) -> None:
    """Starts from another live group."""
    options = [] if page is None else state.group_ids(page)
    widgets.picker(
        "Group",
        options,
        chosen,
        key,
        lambda group: start(group=group or ""),
        placeholder="Choose a live group" if options else "No groups yet",
        width=300,
    )


# -- outcomes ----------------------------------------------------------------------------------------------------------


def outcome(its: Draft, assignor: str) -> Outcome:
    """The result of the draft under an assignor; computed once, shared by all sessions."""
    if (size := excess(its.scenario)) is not None:
        return Outcome(assignor, error=f"{size} are too many for a page. {IN_COMMAND}")
    try:
        return _outcome(its, assignor)
    except NotComputed as error:
        return Outcome(assignor, error=str(error))


def key_of(its: Draft) -> str:
    """The same for drafts with the same start, events and capacity."""
    content = repr((its.scenario.events, its.scenario.loads.default_capacity_per_s))
    return f"{its.key}:{sha256(content.encode(errors='surrogatepass')).hexdigest()}"


@st.cache_resource(max_entries=16, show_spinner=False, hash_funcs={Draft: key_of})
def _outcome(its: Draft, assignor: str) -> Outcome:
    scenario, first = with_change_to(its.scenario, assignor)
    try:
        return Outcome(assignor, tuple(fold_any(scenario, first, given(), DEADLINE_S, _fold, _memory_mb())))
    except TimedOut as error:  # kept, so that it does not take as long again with the next redraw
        return Outcome(assignor, error=f"{error}. {WITHOUT_LIMIT}")
    except AssignorError as error:
        return Outcome(assignor, error=_renumbered(str(error), len(scenario.events) - len(its.scenario.events)))


def _fold(scenario: Scenario, assignor: str) -> Sequence[Generation]:
    return computed(partial(fold, scenario, assignor))


def _renumbered(message: str, too_many: int) -> str:
    """The numbers of events as the viewer counts them; the change to the assignor is none of theirs."""
    theirs = re.sub(r"^Event (\d+)", lambda found: f"Event {int(found[1]) - too_many}", message)
    return re.sub(r"^Event 0 at 0 s \(.*?\): ", "", theirs)


def candidates(scenario: Scenario) -> list[str]:
    """The assignors to compare: those that fit, the group's own first, then those of the user."""
    return [*compatible_assignors(scenario), *(() if scenario.assignor == SHARE else given())]


def awaited(its: Draft) -> list[str]:
    """The candidates that need a plugin, while this session has not waited for them; never the group's own."""
    if st.session_state.get(_ANSWERED) == key_of(its):
        return []
    return [name for name in candidates(its.scenario)[1:] if not_kafkas(*with_change_to(its.scenario, name))]


def have_answered(its: Draft) -> None:
    """Remember that the plugins have answered, so that their results are kept."""
    st.session_state[_ANSWERED] = key_of(its)


def _memory_mb() -> int:
    return source.current().settings.plugin_memory_mb


def given() -> tuple[str, ...]:
    """The plugins of command line and settings, as `module:Class`."""
    return source.current().settings.plugins
