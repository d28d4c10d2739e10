"""What a poll found is what every page draws, what tools, changes and notices say, and what the history keeps.

`test_same_onsets` compares the tables, documents and metrics; here is what reads of them.
"""

from collections import Counter
from dataclasses import dataclass, field, replace
from itertools import count
from pathlib import Path
from typing import Any
from uuid import UUID
from zoneinfo import ZoneInfo

import pandas as pd
import pyarrow as pa
import pytest

from app.metrics.options import Options
from app.metrics.scrape import scrape
from app.metrics.text_format import PLAIN
from app.metrics.view import Polled
from app.notices import incidents
from app.server.api.endpoint import Call, Query
from app.server.api.endpoints.changes import change_document
from app.server.api.endpoints.groups import group as group_answer
from app.server.tools.why import WhyArguments, why
from app.ui import state
from app.ui.groups.headlines import clock
from lag.generations.recent import recent_rebalances
from lag.generations.recorded import GenerationRecorder, Origin, Recording, TimedEvent
from lag.history.queries import HistoryQueries
from lag.history.recorder import group_snapshots
from lag.history.span import MINUTE, Span
from lag.history.store import History
from lag.model import ClusterSnapshot
from lag.polling.report import CollectorStatus, Report
from lag.polling.verdict_changes import VerdictChanges
from lag.records import BytesColumn, decode
from lag.times import from_micros, from_ms
from lag.verdict.catalogue import INCIDENTS, VERDICTS, Severity
from lag.verdict.health import Finding
from lag.verdict.onset import Onset
from lag.verdict.status import Status
from tests.app import feeds, synthetic, test_same_moves
from tests.app.conftest import Open
from tests.app.reading import page_text, table, title
from tests.app.test_same_onsets import EVERY_MS, PARTITIONS, POLLS, Server, World, life, verdicts
from tests.lag.make import cluster, end, group

ZONE = ZoneInfo("Europe/Berlin")
DRAWN_EVERY = 25
"""Polls: drawing the pages takes long."""


@dataclass
class Busy(World):
    """Groups that also lose their members, and records before they are read; a third one does not commit for long."""

    starts: dict[str, int] = field(default_factory=lambda: dict.fromkeys(PARTITIONS, 0))
    memberless: set[str] = field(default_factory=set)

    def step(self) -> None:
        super().step()
        if self.chance.random() < 0.1:
            self.memberless ^= {self.chance.choice("ab")}
        if self.chance.random() < 0.05:
            tp = self.chance.choice(PARTITIONS)
            self.starts[tp] = max(self.starts[tp], self.ends[tp] - self.chance.choice((0, 10)))

    def _consume(self, name: str) -> None:
        if name not in self.memberless:
            super()._consume(name)

    def snapshot(self, number: int) -> ClusterSnapshot:
        groups = {name: group(dict(its)) for name, its in self.committed.items()}
        groups |= {name: group(dict(self.committed[name]), 0, state="Empty") for name in self.memberless}
        groups["c"] = group(dict.fromkeys(PARTITIONS, None if number % 40 < 20 else 10**9))
        ends = {tp: end(high, self.starts[tp]) for tp, high in self.ends.items()}
        return cluster(groups, ends, number, self.now_ms)


SHOWN = {
    Status.STOPPED, Status.STALLED, Status.LOST, Status.BEYOND_END, Status.REWOUND, Status.FALLING_BEHIND,
    Status.NEVER_COMMITTED, Status.NO_MEMBERS, Status.CATCHING_UP, Status.OK,
}  # fmt: skip
"""Verdicts that come in the workload."""


def reported(report: Report, name: str) -> tuple[Finding, int | None]:
    """What the poll found of the group, and its lag."""
    found = report.health.groups[report.snapshot.by_group[name]]
    return found.finding, found.lag.records


def none_if_na(cell: Any) -> Any:
    """A cell of a table, None where it is empty."""
    return None if pd.isna(cell) else cell


def onset_document(onset: Onset | None) -> Any:
    return None if onset is None else {"at_ms": onset.at_ms, "is_exact": onset.is_exact, "source": onset.source}


def verdicts_in_metrics(report: Report) -> dict[str, str]:
    """The verdict of each group at `/metrics`."""
    polled = Polled("prod", report, CollectorStatus(10.0), report.snapshot.at_ms)
    lines = "".join(scrape([polled], Options(), PLAIN)).splitlines()
    series = [line for line in lines if line.startswith("groupscope_group_verdict{")]
    return {line.split('group="')[1].split('"')[0]: line.split('verdict="')[1].split('"')[0] for line in series}


@pytest.mark.parametrize("seed", [5])
def test_tools_changes_metrics_and_notices_say_what_each_poll_found(seed: int) -> None:
    board: incidents.Incidents = {}
    statuses = Counter[Status]()
    changes, ids, seen = VerdictChanges(), count(), frozenset[str]()
    last_id, before, opened, changed = 0, dict[str, Status](), 0, 0
    for _, report in life(Server(Busy(seed), None, has_history=True), restarts=0.02, polls=4 * POLLS):
        source = feeds.source(prod=feeds.HandFeed(report))
        in_metrics, decided = verdicts_in_metrics(report), verdicts(report)
        changes.observe(report.health)
        new = {one.group_id: change_document(one) for one in changes.after(last_id).changes}
        last_id = changes.last_id()
        poll = incidents.poll_of("prod", report.health, seen)
        known, board = board, incidents.after(board, poll, Severity.INFO, frozenset(), lambda: str(next(ids)))
        seen = frozenset(report.snapshot.by_group)
        for one in report.snapshot.groups:
            name, place = one.group_id, {"cluster": "prod", "group": one.group_id}
            finding, lag = reported(report, name)
            status = decided[name].status if name in decided else None
            assert in_metrics.get(name) == status
            whole = group_answer(Call(source, place, Query(), {}))
            for answer in (
                whole,
                why(Call(source, place, WhyArguments(cluster="prod", group=name, limit=1), {}))["group"],
            ):
                assert (answer["verdict"], answer["onset"], answer["lag"]) == (
                    status, onset_document(finding.onset), lag,
                )  # fmt: skip
                assert answer["health"]["evidence"] == finding.evidence
            rows = [row["lag"] for row in whole["partitions"]]
            assert lag == (None if None in rows else sum(row or 0 for row in rows))
            statuses[finding.status] += 1
            now = Status.OK if status in (None, Status.WATCHING) else status
            assert (name in new) == (now is not before.get(name, Status.OK))
            if name in new:
                changed += 1
                assert (new[name]["after"], new[name]["onset"]) == (status, onset_document(finding.onset))
                assert new[name]["evidence"] == finding.evidence
            before[name] = now
            mine = next((each for each in board.values() if each.group_id == name and each.closed_ms is None), None)
            if status is Status.WATCHING:  # neither begins an incident nor ends one
                assert mine == next(
                    (one for one in known.values() if one.group_id == name and one.closed_ms is None), None
                )
            elif status is not None:
                assert (None if mine is None else mine.verdict) == (status if status in INCIDENTS else None)
            if mine is not None and mine.id not in known:
                assert finding.onset is not None
                assert (mine.started_ms, mine.evidence) == (finding.onset.at_ms, finding.evidence)
                opened += 1
    assert changed > 20
    assert opened > 5
    assert set(statuses) >= SHOWN, set(statuses)


@pytest.mark.parametrize("seed", [5])
def test_the_history_has_what_each_poll_found(seed: int, tmp_path: Path) -> None:
    history, rows, found = History(tmp_path), list[pa.Table](), dict[str, list[Any]]()
    world = Busy(seed)
    begin_us = world.now_ms * 1000
    for _, report in life(Server(world, None, has_history=True), restarts=0.02):
        rows.append(group_snapshots(report.health))
        for number, one in enumerate(report.snapshot.groups):
            finding, lag = reported(report, one.group_id)
            onset = None if finding.onset is None else (finding.onset.at_ms, finding.onset.is_exact)
            code = int(report.health.columns.status[number])
            found.setdefault(one.group_id, []).append((report.snapshot.at_ms, None if code < 0 else code, onset, lag))
    history.append("group_snapshots", pa.concat_tables(rows))
    span = Span(from_micros(begin_us), from_ms(world.now_ms) + MINUTE)
    for name, polls in found.items():
        frame = HistoryQueries(history, "id-test").polls(name, span)
        assert len(frame) == POLLS
        columns = ("at_us", "rank", "onset_us", "onset_is_exact", "lag_records")
        rows_of = zip(*(frame[column].tolist() for column in columns), strict=True)
        stored = [
            (
                at_us // 1000,
                None if pd.isna(rank) else int(rank),
                None if pd.isna(onset_us) else (int(onset_us) // 1000, is_exact),
                None if pd.isna(lag) else int(lag),
            )
            for at_us, rank, onset_us, is_exact, lag in rows_of
        ]
        assert stored == polls


@pytest.mark.parametrize("seed", [5])
def test_pages_draw_what_the_poll_found(seed: int, open_page: Open) -> None:
    shown = 0
    world = Busy(seed, now_ms=state.now_ms() - POLLS * EVERY_MS)
    for number, (_, report) in enumerate(life(Server(world, None, has_history=True), restarts=0.0), start=1):
        if number % DRAWN_EVERY:
            continue
        source = feeds.source(demo=feeds.HandFeed(report))
        listed = table(open_page("overview", its=source), "by urgency").set_index("group")
        readers = table(open_page("topics", its=source, topic="t"), "Groups that read this topic").set_index("group")
        for one in report.snapshot.groups:
            name = one.group_id
            finding, lag = reported(report, name)
            label = VERDICTS[finding.status].label
            when = None if finding.onset is None else clock(finding.onset, report.snapshot.at_ms, ZONE)
            page = open_page("group", its=source, group=name)
            assert not page.exception
            assert list(listed["v"][name]) == list(readers["v"][name]) == [label]
            assert none_if_na(listed["lag"][name]) == none_if_na(readers["lag"][name]) == lag
            assert none_if_na(listed["since"][name]) == none_if_na(readers["since"][name]) == when
            assert label in page_text(page).replace("\u00a0", " ")
            assert (f", since {when}." in page_text(page).replace("\\", "")) == (when is not None)
            shown += when is not None
    assert shown > 3


@pytest.mark.parametrize("assignor", ["range", "cooperative-sticky"])
def test_generations_draws_as_many_moves_as_the_assignor_makes(assignor: str, open_page: Open) -> None:
    """In the list of the rebalances of all groups, and in the headline and the table of one generation."""
    predicted, now_ms = test_same_moves.life(1, assignor), state.now_ms()
    recorder = GenerationRecorder(dict[UUID, str]().get, len(predicted))
    for number, made in enumerate(predicted):
        value = test_same_moves.record(made)
        (event,) = decode(BytesColumn.of([test_same_moves.KEY]), BytesColumn.of([value])).events
        recorder.take([TimedEvent(now_ms - 1_000 * (len(predicted) - number), event)], whole=True)
    states, names = recorder.states("g"), ("g", *feeds.report().snapshot.by_group)
    report = feeds.report([replace(spec, group_id=name) for spec, name in zip(synthetic.specs(), names, strict=False)])
    seen = {"g": Recording(Origin.RECORDED, recorder.recorded("g"))}
    source = feeds.source(demo=feeds.HandFeed(report, seen=seen, recent=recent_rebalances({"g": states}, {})))
    listed = table(open_page("generations", its=source), "of all groups").set_index("generation")["moved"]
    assert {number: int(moved.split()[0]) for number, moved in listed.items()} == {
        made.number: made.quality.moved for made in predicted[1:]
    }
    busy = sorted(predicted[1:], key=lambda made: made.quality.moved)
    for made in (busy[-1], busy[0]):
        page = open_page("generations", its=source, group="g", generation=str(made.number))
        assert test_same_moves.moved_by_title(title(page).rpartition("; ")[2]) == made.quality.moved
        moves = page.dataframe[-1].value
        assert int(moves["from"].notna().sum()) == made.quality.moved
