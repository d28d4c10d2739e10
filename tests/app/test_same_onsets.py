"""Onsets over a long random time with restarts of the server: exact ones stay, others only move back."""

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import pytest
from prometheus_client.parser import text_string_to_metric_families

from app.documents.snapshot import GroupSummaryDocument, snapshot_document
from app.metrics.options import Options
from app.metrics.scrape import scrape
from app.metrics.text_format import PLAIN
from app.metrics.view import Polled
from app.server.api.endpoint import Call
from app.server.api.endpoints.groups import GroupsQuery, JudgedSummaryDocument, groups
from app.ui.group_table import build_group_table
from app.views.overview.tables import with_deletion
from app.views.topics import tables as topics
from app.views.topics import topic_tables
from lag.generations.commit_runs import CommitRuns
from lag.history.recorder import group_snapshots
from lag.model import ClusterSnapshot, Unread, UnreadRange
from lag.partition_lag import totals
from lag.polling.evaluation import Evaluator, default_policy
from lag.polling.report import CollectorStatus, Report
from lag.verdict.health import Finding
from lag.verdict.onset import SOURCE_CODE, OnsetColumns, OnsetSource
from lag.verdict.openings.stored_verdicts import StoredVerdicts
from lag.verdict.rules.group_onsets import stored
from lag.verdict.status import TOO_EARLY, Status
from lag.verdict.window import time_to_loss
from tests.app import feeds
from tests.lag.generations.commits import Commit, columns
from tests.lag.history.past import STATUS_OF
from tests.lag.make import cluster, end, group

EVERY_MS = 10_000
POLLS = 150
PARTITIONS = ("t-0", "t-1", "t-2")
MODES = ("all", "one stalls", "none", "repeat", "rewind")
SHOWN = set(Status) - {Status.OK, Status.UNKNOWN}


@dataclass
class World:
    """Groups that commit, stop, repeat and rewind by chance; every commit is a record."""

    seed: int
    retention_ms: int | None = None
    now_ms: int = 1_000_000_000
    ends: dict[str, int] = field(default_factory=lambda: dict.fromkeys(PARTITIONS, 100))
    committed: dict[str, dict[str, int]] = field(
        default_factory=lambda: {name: dict.fromkeys(PARTITIONS, 100) for name in "ab"}
    )
    modes: dict[str, str] = field(default_factory=lambda: dict.fromkeys("ab", "all"))
    records: list[Commit] = field(default_factory=list)
    moved_ms: dict[str, int] = field(default_factory=lambda: dict.fromkeys("ab", 0))

    def __post_init__(self) -> None:
        self.chance = random.Random(self.seed)
        for name in self.committed:
            for tp in PARTITIONS:
                self._commit(name, tp, 100)

    def step(self) -> None:
        """One poll interval."""
        self.now_ms += EVERY_MS
        for tp in PARTITIONS:
            self.ends[tp] += self.chance.choice((0, 5, 10))
        for name in self.committed:
            if self.chance.random() < 0.04:
                self.modes[name] = self.chance.choice(MODES)
            self._consume(name)

    def _consume(self, name: str) -> None:
        mode, its = self.modes[name], self.committed[name]
        for tp in PARTITIONS:
            if mode == "repeat":
                self._commit(name, tp, its[tp])
            elif mode == "rewind":
                self._commit(name, tp, max(0, its[tp] - 20))
            elif mode == "all" or (mode == "one stalls" and tp != "t-0"):
                self._commit(name, tp, max(its[tp], self.ends[tp] - self.chance.choice((0, 3))))
        if mode == "rewind":
            self.modes[name] = "all"

    def _commit(self, name: str, tp: str, offset: int) -> None:
        at_ms = self.now_ms - 1 - self.chance.randrange(EVERY_MS - 1)
        at_ms = max(at_ms, self.records[-1].at_ms) if self.records else at_ms
        if offset != self.committed[name][tp]:
            self.moved_ms[name] = at_ms
        self.committed[name][tp] = offset
        self.records.append(Commit(name, tp, offset, at_ms))

    def snapshot(self, number: int) -> ClusterSnapshot:
        """A poll now."""
        groups = {name: group(dict(its)) for name, its in self.committed.items()}
        read = cluster(groups, {tp: end(high) for tp, high in self.ends.items()}, number, self.now_ms)
        topics = {name: replace(topic, retention_ms=self.retention_ms) for name, topic in read.topics.items()}
        return replace(read, topics=topics)


@dataclass
class Follower:
    """Reads the records from some point on, at times not up to the end."""

    world: World
    next_record: int
    runs: CommitRuns = field(default_factory=CommitRuns.none)

    def read(self, up_to: int) -> None:
        self.runs = self.runs.after(columns(self.world.records[self.next_record : up_to]), source=0)
        self.next_record = max(self.next_record, up_to)

    def commits(self) -> CommitRuns:
        return self.runs

    def reads_all(self) -> bool:
        return self.next_record == len(self.world.records)

    def emptied_ms(self, group_id: str) -> int | None:
        return None

    def joined_ms(self, group_id: str) -> int | None:
        return None


class Server:
    """One process after the other; with the stored history each begins with the last verdicts of the one before."""

    def __init__(self, world: World, look_back: int | None, has_history: bool) -> None:
        self.world, self._look_back, self._has_history = world, look_back, has_history
        self.rows: dict[str, dict[str, object]] = {}
        self.start()

    def start(self) -> None:
        records = len(self.world.records)
        self.follower = Follower(self.world, 0 if self._look_back is None else max(0, records - self._look_back))
        self._evaluator = Evaluator(default_policy, self.follower, self._last_verdicts)  # type: ignore[arg-type]
        self._number = 0

    def _last_verdicts(self, cluster_id: str, at_ms: int, openings_s: float) -> StoredVerdicts:
        if not self._has_history or not self.rows:
            return StoredVerdicts()
        rows = list(self.rows.values())
        at = [row["onset"] for row in rows]
        onsets = OnsetColumns(
            np.array([-1 if one is None else round(one.timestamp() * 1000) for one in at], np.int64),  # type: ignore[attr-defined]
            np.array([bool(row["onset_is_exact"]) for row in rows]),
            np.full(len(rows), SOURCE_CODE[OnsetSource.HISTORY], np.uint8),
        )
        status = np.array([row["status"] for row in rows], np.int8)
        return StoredVerdicts(stored(list(self.rows), status, onsets, np.ones(len(rows), np.bool_)))

    def poll(self) -> Report:
        self._number += 1
        report = self._evaluator.evaluate(self, self._number, self.world.now_ms)
        for row in group_snapshots(report.health).to_pylist():
            if row["status"] is not None:
                self.rows[row["group_id"]] = row
        return report

    def read(self, number: int, at_ms: int) -> ClusterSnapshot:
        return self.world.snapshot(number)

    def unread(self, ranges: Sequence[UnreadRange]) -> Sequence[Unread]:
        return [Unread(its.first, has_records=True) for its in ranges]

    def close(self) -> None:
        """Nothing is open."""


def life(server: Server, restarts: float, polls: int = POLLS) -> Iterator[tuple[bool, Report]]:
    """Polls over a long time, and whether the server has just been started again."""
    for _ in range(polls):
        server.world.step()
        restarted = server.world.chance.random() < restarts
        if restarted:
            server.start()
        behind = server.world.chance.choice((0, 0, 0, 4))
        server.follower.read(max(server.follower.next_record, len(server.world.records) - behind))
        yield restarted, server.poll()


def verdicts(report: Report) -> Mapping[str, Finding]:
    """The known verdicts by group."""
    codes, groups = report.health.columns.status, report.snapshot.groups
    return {
        one.group_id: health.finding
        for code, one, health in zip(codes, groups, report.health.groups, strict=True)
        if code != TOO_EARLY and health.finding.status is not Status.UNKNOWN
    }


@pytest.mark.parametrize("look_back", [None, 40], ids=["all records", "the last records"])
@pytest.mark.parametrize("has_history", [True, False], ids=["with history", "without history"])
@pytest.mark.parametrize("seed", [1])
def test_an_exact_onset_stays_while_its_verdict_holds_and_others_only_move_back(
    seed: int, has_history: bool, look_back: int | None
) -> None:
    world = World(seed)
    server = Server(world, look_back, has_history)
    before: dict[str, Finding] = {}
    held = 0
    for restarted, report in life(server, restarts=0.02):
        if restarted and not has_history:
            before.clear()
        for name, found in verdicts(report).items():
            last, onset = before.get(name), found.onset
            before[name] = found
            assert (onset is not None) == (found.status in SHOWN)
            if onset is None:
                continue
            assert onset.at_ms <= world.now_ms
            if found.status is Status.STOPPED:
                assert onset.at_ms >= world.moved_ms[name]
            if last is None or last.status is not found.status or last.onset is None:
                continue
            if found.status is Status.STOPPED and last.onset.at_ms < world.moved_ms[name]:
                continue  # the server was restarted, and the group committed meanwhile
            held += 1
            if last.onset.is_exact:
                assert (onset.at_ms, onset.is_exact) == (last.onset.at_ms, True)
            else:
                assert onset.at_ms <= last.onset.at_ms
    assert held > POLLS // 4


def test_a_stopped_group_s_onset_is_its_last_commit_unless_records_came_later() -> None:
    world, seen = World(5), 0
    for _, report in life(Server(world, None, has_history=False), restarts=0.02):
        for name, found in verdicts(report).items():
            if found.status is Status.STOPPED and found.onset is not None and found.onset.source is OnsetSource.COMMIT:
                assert found.onset.at_ms == world.moved_ms[name]
                seen += found.onset.is_exact
    assert seen > 5


@pytest.mark.parametrize("seed", [3])
def test_onset_lag_and_verdict_are_the_same_everywhere(seed: int) -> None:
    shown = 0
    for _, report in life(Server(World(seed), None, has_history=True), restarts=0.02):
        health, snapshot = report.health, report.snapshot
        in_history = {row["group_id"]: row for row in group_snapshots(health).to_pylist()}
        lags = totals(snapshot)
        in_document = {
            one["group_id"]: one
            for one in snapshot_document(health, list(zip(snapshot.groups, lags, strict=True)))["groups"]
        }
        on_overview = build_group_table(snapshot, health).frame.set_index("group")
        on_topics = topic_tables.view(snapshot, health, report.window, "t").readers.set_index("group")
        for number, one in enumerate(snapshot.groups):
            finding, lag = health.groups[number].finding, health.groups[number].lag.records
            row, reported, name = in_history[one.group_id], in_document[one.group_id], one.group_id
            assert (
                health.columns.onsets.at(number)
                == finding.onset
                == on_topics["onset"][name]
                == on_overview["onset"][name]
            )
            assert lag == row["lag"] == reported["lag"] == on_overview["lag"][name] == on_topics["lag"][name]
            assert on_overview["status"][name] == finding.status.value
            if row["status"] is None:
                assert reported["verdict"] is None
            else:
                assert STATUS_OF[row["status"]] is reported["verdict"] is finding.status
            if finding.onset is None:
                assert row["onset"] is reported["onset"] is row["onset_source"] is None
                continue
            shown += 1
            assert reported["onset"] == {
                "at_ms": finding.onset.at_ms,
                "is_exact": finding.onset.is_exact,
                "source": finding.onset.source,
            }
            assert round(row["onset"].timestamp() * 1000) == finding.onset.at_ms
            assert (row["onset_is_exact"], row["onset_source"]) == (finding.onset.is_exact, finding.onset.source.value)
    assert shown > 50


SAME = set(GroupSummaryDocument.__annotations__)
"""The fields that both forms of a group have."""


def in_metrics(report: Report) -> Mapping[tuple[str, str], float]:
    """The values of `/metrics` by name and group."""
    polled = Polled("prod", report, CollectorStatus(10.0), report.snapshot.at_ms)
    families = text_string_to_metric_families("".join(scrape([polled], Options(), PLAIN)))
    return {
        (sample.name, sample.labels["group"]): sample.value
        for family in families
        for sample in family.samples
        if "group" in sample.labels
    }


def in_api(report: Report) -> Mapping[str, JudgedSummaryDocument]:
    """What the HTTP API answers of every group."""
    source = feeds.source(prod=feeds.HandFeed(report))
    answer = groups(Call(source, {"cluster": "prod"}, GroupsQuery.model_validate({"internal": True}), {}))
    return {one["group_id"]: one for one in answer["groups"]}


@pytest.mark.parametrize("seed", [3, 4])
def test_the_api_and_the_metrics_say_what_the_snapshot_says(seed: int) -> None:
    shown = 0
    for _, report in life(Server(World(seed), None, has_history=True), restarts=0.02):
        health, snapshot = report.health, report.snapshot
        lags = totals(snapshot)
        document = snapshot_document(health, list(zip(snapshot.groups, lags, strict=True)))
        answers, scraped = in_api(report), in_metrics(report)
        for one in document["groups"]:
            name = one["group_id"]
            same = {key: value for key, value in one.items() if key in SAME}
            assert same.keys() == SAME
            assert {**answers[name], **same} == answers[name]
            assert scraped.get(("groupscope_group_lag_records", name)) == one["lag"]
            onset = one["onset"]
            at_s = scraped.get(("groupscope_group_verdict_onset_timestamp_seconds", name))
            assert at_s == (None if onset is None else onset["at_ms"] / 1000)
            shown += onset is not None
    assert shown > 50


@pytest.mark.parametrize("seed", [3])
def test_the_time_until_deletion_is_the_same_on_every_page_in_the_api_and_in_the_metrics(seed: int) -> None:
    """The topic of both groups has a retention of 60 s."""
    world, known = World(seed, retention_ms=60_000), 0
    for _, report in life(Server(world, None, has_history=False), restarts=0.02):
        snapshot, window, health = report.snapshot, report.window, report.health
        (left, rows), scraped, answers = time_to_loss.of_groups(snapshot, window), in_metrics(report), in_api(report)
        overview = with_deletion(build_group_table(snapshot, health), snapshot, window).frame.set_index("group")
        on_topics = {one.group: one.deletion for one in topics.readers(snapshot, health, window)["t"]}
        of_topic = topic_tables.view(snapshot, health, window, "t").readers.set_index("group")
        for number, one in enumerate(snapshot.groups):
            name, seconds, at_most_s = one.group_id, float(left.seconds[number]), float(left.at_most_s[number])
            reason = time_to_loss.why_none(snapshot, int(rows[number]), seconds, at_most_s)
            assert repr(on_topics[name].seconds) == repr(seconds)
            in_answer = answers[name]["health"]["time_to_loss"]
            assert in_answer["seconds"] == (seconds if np.isfinite(seconds) else None)
            assert in_answer["at_most_s"] == (None if np.isnan(at_most_s) else at_most_s)
            assert in_answer["reason"] is reason
            assert repr(time_to_loss.of_group(snapshot, window, number).of(0)) == repr(
                time_to_loss.LeastTime(seconds, at_most_s, int(rows[number]))
            )
            gauge = scraped.get(("groupscope_group_time_to_loss_seconds", name))
            assert gauge == (None if np.isnan(seconds) else round(seconds, 3))
            shown = np.nan if reason else seconds
            assert repr(float(overview["deleted_in_s"][name])) == repr(float(shown))
            assert (overview["deleted_in_why"][name] == "") == (on_topics[name].why == "") == (reason is None)
            if health.groups[number].lag.records:
                assert repr(float(of_topic["left_s"][name])) == repr(seconds)
            known += reason is None
    assert known > 50
