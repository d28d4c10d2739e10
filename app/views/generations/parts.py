"""The Generations page: where the generations come from, and its empty states."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pandas as pd
import streamlit as st

from app.server.source import current
from app.ui import formats, state, widgets
from app.ui.groups import recorded_text as text
from app.ui.groups import recordings
from app.ui.groups.headlines import NOT_FOUND, not_found
from app.ui.movement import tables
from app.ui.scenario import draft_state
from app.ui.scenario.story_link import PROTOCOLS
from app.ui.scenario.story_state import LAB, PROTOCOL, played
from app.views.generations import link
from app.views.generations.text import gap as gap_text
from assignors.model import AssignorError
from assignors.simulation.timeline.generations import generations
from assignors.whatif.events import Scenario
from assignors.whatif.generations import Generation
from assignors.whatif.rebalance_protocol import RebalanceProtocol
from lag.generations.ownership import without_owner_in
from lag.generations.recorded import Origin, RecordedGeneration, Recording

MAX_STEPS = 12


@dataclass(frozen=True, slots=True)
class Shown:
    """The generations that the page shows. `live`: of a live group; None: predicted or simulated."""

    generations: Sequence[Generation]
    title: str
    origin: str
    live: Recording | None = None


def shown(page: state.Shown | None) -> Shown | None:
    """The generations of the scenario, story or live group in the URL; None if it names none.

    Raises AssignorError or GroupscopeError.
    """
    if state.url(PROTOCOL):
        return _played()
    if state.url("scenario") or state.url("example"):
        return _folded(page)
    group = state.url("group")
    return None if group is None else _live(group, page)


def _folded(page: state.Shown | None) -> Shown | None:
    its = draft_state.draft(page)
    if its is None:
        return None
    outcome = draft_state.outcome(its, _assignor(its.scenario))
    if outcome.error is not None:
        raise AssignorError(outcome.error)
    assignor, title = formats.code(tables.short(outcome.assignor)), formats.code(its.title)
    origin = f"predicted with {assignor} from the scenario {title}"
    return Shown(outcome.generations, its.title, origin)


def _assignor(scenario: Scenario) -> str:
    """The assignor in the URL, if What if offers it: a link must not run other code of this process."""
    wanted, offered = state.url("assignor") or scenario.assignor, draft_state.candidates(scenario)
    if wanted not in offered:
        raise AssignorError(f"Unknown assignor {formats.cut(wanted)!r}. Use one of {', '.join(offered)}.")
    return wanted


def _played() -> Shown:
    """The generations of a simulated story of the Protocol lab."""
    wanted = state.url(PROTOCOL) or ""
    if wanted not in PROTOCOLS:
        raise AssignorError(f"Unknown protocol {formats.cut(wanted)!r}. Use one of {', '.join(PROTOCOLS)}.")
    its = LAB.current()
    line = played(its.scenario, its.seed)[RebalanceProtocol(wanted)]
    if isinstance(line, str):
        raise AssignorError(line)
    assignor, title = formats.code(line.timeline.assignor), formats.code(its.scenario.name)
    origin = f"simulated with {assignor} from the story {title}"
    return Shown(generations(line.timeline, its.scenario.loads), its.scenario.name, origin)


def keys(live: Recording) -> list[link.Key]:
    """What identifies each generation in the URL."""
    return [link.Key(one.generation.number, one.generation.at_ms) for one in live.generations]


def _live(group: str, page: state.Shown | None) -> Shown | None:
    feed = state.feed()
    if feed is None:
        return None
    live = feed.recording(group)
    live = live if page is None else recordings.with_history(page, group, live)
    origin = f"of {formats.code(group)}, {text.ORIGINS[live.origin]}"
    return Shown([one.generation for one in live.generations], group, origin, live)


def source(page: state.Shown | None, its: Shown | None) -> None:
    """The select box of live groups, and links."""
    live = its.title if its and its.live else None
    with st.container(horizontal=True, gap="small", vertical_alignment="center"):
        draft_state.live_group_picker(page, live, "generations_group")
        if live is not None:
            widgets.page_button("Group", "group", lambda: {"group": live}, icon=":material/group:", key="to_group")
        widgets.page_button("What if…", "whatif", draft_state.parameters, icon=":material/alt_route:", key="to_whatif")


def nothing(its: Shown, page: state.Shown | None) -> None:
    """A group without generations: how they appear, or that there is no such group."""
    if its.live is not None and page is not None and page.report.snapshot.group(its.title) is None:
        st.title(not_found(its.title), anchor=False)
        st.markdown(NOT_FOUND)
        return
    st.title(f"No rebalance of {formats.code(its.title)} yet", anchor=False)
    st.markdown(
        "The next rebalance appears here when a member joins or leaves, a topic gets more partitions, or the assignor "
        "changes. groupscope reads the group's last records at startup and follows the group from then on."
    )
    if its.live is not None:
        not_recorded(its.live)
    if current().demo is not None:
        st.markdown("On this demo cluster, **Demo** → *Add a member* triggers one.")


def where_from(its: Shown, at: int, names: Mapping[str, str]) -> None:
    """The origin of the generations; of a live group the time of this one, and what its durations cover."""
    count = formats.plural(len(its.generations), "generation")
    live = its.live
    badge = text.SIMULATED if live is None else text.BADGES[live.origin]
    st.markdown(f":small[{badge} :gray[{count} {its.origin}]]")
    if live is not None:
        facts = text.facts(live.generations, at, state.zone(), state.now_ms())
        gap = gap_text(without_owner_in(live, at))
        st.markdown(f":small[{formats.md(formats.joined(facts, gap))}]")
        if gone := text.departures(live.generations, at, names):
            st.markdown(f":small[:gray[{formats.md(gone)}]]")
        not_decoded(live.generations[at])
        not_recorded(live)


def nearest(missing: int, shown: int) -> None:
    """The URL names a generation that is not there."""
    rest = f"showing generation {shown}, the nearest one"
    widgets.line(":orange", "history_toggle_off", f"Generation {missing} is not available", rest)


def not_decoded(one: RecordedGeneration) -> None:
    """Which members of this generation are shown without what they wrote."""
    for problem in one.problems:
        rest = f"{formats.md(problem.cause[:1].upper() + problem.cause[1:])}. {formats.md(problem.hint)}"
        widgets.line(":orange", "error", "Not all of it could be decoded", rest)


def not_recorded(live: Recording) -> None:
    """Why generations are not recorded, or not up to now."""
    problem = live.problem
    if problem is None:
        return
    denied = problem.is_refusal
    head = "Not recorded" if live.origin is Origin.INFERRED else "Newer generations are not recorded"
    rest = f"{formats.md(problem.cause)}. {formats.md(problem.hint)}".rstrip()
    widgets.line(":orange" if denied else ":gray", "lock" if denied else "info", head, rest)


def reconciliation(one: RecordedGeneration, names: Mapping[str, str]) -> None:
    """The steps in which the members reached their target assignments (KIP-848)."""
    if len(one.steps) < 2 or one.began_ms is None:
        return
    begin = one.began_ms
    rows = [
        {
            "after": formats.brief(max(0, step.at_ms - begin)),
            "member": names.get(step.member_id, step.member_id),
            "step": text.step(step),
            "epoch": step.epoch,
        }
        for step in one.steps
    ]
    c = st.column_config
    with st.container(gap="xxsmall"):
        widgets.titled_table(
            "Reconciliation",
            ":gray[how each member reached its target assignment]",
            "steps",
            frame := pd.DataFrame(rows),
        )
        widgets.table(
            frame,
            key="steps",
            width="content",
            most=MAX_STEPS,
            alt=f"{formats.plural(len(frame), 'step')} of members to their target assignments: time, state, epoch",
            columns={
                "after": c.TextColumn("After", width=60, help="Time since the new group epoch"),
                "member": c.TextColumn("Member", width=150),
                "step": c.TextColumn("State", width=300),
                "epoch": c.NumberColumn("Epoch", width=72, help="The member's epoch after this step"),
            },
        )
