"""An incident has one id from its first verdict to its end, whatever polls come between."""

import itertools
from collections.abc import Iterable

from hypothesis import given
from hypothesis import strategies as st

from app.notices.incidents import (
    KEPT_CLOSED_MS,
    MOST_CLOSED,
    Delivery,
    Incident,
    Incidents,
    Poll,
    after,
    poll_of,
    restored,
)
from lag.verdict.catalogue import INCIDENTS, Severity
from lag.verdict.health import Finding
from lag.verdict.status import Status
from tests.app.notices.made import OK, T0, UNCOMMITTED, WAITS, health, incident, onset, poll

SENT = {"team": Delivery(Severity.CRITICAL, T0)}
TEAM = frozenset({"team"})
YEAR_MS = 365 * 24 * 3600 * 1000


def run(
    polls: Iterable[Poll],
    least: Severity = Severity.INFO,
    before: Incidents | None = None,
    sent_close: frozenset[str] = TEAM,
) -> list[Incident]:
    ids, incidents = (f"i-{number}" for number in itertools.count(1)), before or {}
    for each in polls:
        incidents = after(incidents, each, least, sent_close, ids.__next__)
    return list(incidents.values())


def test_a_verdict_opens_and_ok_closes() -> None:
    (opened,) = run([poll(T0, {"a": Status.STOPPED, "b": Status.OK})])
    assert (opened.id, opened.group_id, opened.verdict, opened.closed_ms) == ("i-1", "a", Status.STOPPED, None)
    (closed,) = run([poll(T0 + 1, {"a": Status.OK, "b": Status.OK})], before={"i-1": opened})
    assert (closed.id, closed.closed_ms, closed.verdict) == ("i-1", T0 + 1, Status.STOPPED)


def test_it_began_at_the_onset_of_its_verdict() -> None:
    finding = Finding(Status.STOPPED, "rule", "e", onset(T0 - 5_000))
    (opened,) = run([Poll("prod", T0, {"a": Status.STOPPED}, frozenset(), lambda _: finding)])
    assert opened.started_ms == T0 - 5_000


def test_another_verdict_keeps_the_id_and_the_begin() -> None:
    (one,) = run([poll(T0, {"a": Status.FALLING_BEHIND}), poll(T0 + 1, {"a": Status.STOPPED})])
    assert (one.id, one.verdict, one.severity, one.started_ms) == ("i-1", Status.STOPPED, Severity.CRITICAL, T0)
    assert one.evidence == f"a is stopped at {T0 + 1}"


def test_a_verdict_that_holds_asks_for_no_evidence() -> None:
    """It takes 0.1 ms for each group, and the next poll waits for it."""

    def unread(group_id: str) -> Finding:
        raise AssertionError(group_id)

    before = run([poll(T0, {"a": Status.STOPPED})])
    kept = {one.id: one.delivered("team", Delivery(Severity.CRITICAL, T0)) for one in before}
    again = Poll("prod", T0 + 1, {"a": Status.STOPPED}, frozenset(), unread)
    assert run([again], before=kept) == list(kept.values())


def test_only_severe_verdicts_open_and_only_ok_closes() -> None:
    assert run([poll(T0, {"a": Status.TOPIC_DELETED})], Severity.WARNING) == []
    polls = [poll(T0, {"a": Status.STOPPED}), poll(T0 + 1, {"a": Status.CATCHING_UP})]
    (one,) = run(polls, Severity.WARNING)
    assert (one.closed_ms, one.severity) == (None, Severity.INFO)


def test_a_group_that_was_not_read_changes_nothing() -> None:
    before = run([poll(T0, {"a": Status.STOPPED})])
    kept = {one.id: one for one in before}
    assert run([poll(T0 + 1, {}, undecided=frozenset({"a"}))], before=kept) == before
    assert run([poll(T0 + 1, {}, complete=False)], before=kept) == before


def test_a_group_that_is_gone_closes() -> None:
    kept = {"i-1": incident()}
    (complete,) = run([poll(T0 + 1, {})], before=kept)
    (seen,) = run([poll(T0 + 1, {}, complete=False, seen=frozenset({"billing"}))], before=kept)
    assert complete == seen
    assert (seen.closed_ms, seen.evidence) == (T0 + 1, "the group no longer exists")


def test_polls_of_another_cluster_change_nothing() -> None:
    kept = {"x": incident(id="x", cluster="other", group_id="a")}
    assert [one.cluster for one in run([poll(T0, {"a": Status.STOPPED})], before=kept)] == ["other", "prod"]
    assert run([poll(T0, {"a": Status.OK})], before=kept) == list(kept.values())


def test_a_closed_one_is_kept_until_its_end_was_sent_however_late() -> None:
    """Quiet hours, a maintenance window or an outage of the target can take longer than a day."""
    closed = incident(closed_ms=T0, deliveries=SENT)
    assert run([poll(T0 + 1, {}), poll(T0 + YEAR_MS, {})], before={"i-1": closed}) == [closed]
    known = closed.delivered("team", Delivery(Severity.CRITICAL, T0, closed=True))
    assert run([poll(T0 + 1, {})], before={"i-1": known}) == []


def test_a_closed_one_is_kept_for_a_day_for_a_target_that_is_removed_or_sent_no_ends() -> None:
    closed = incident(closed_ms=T0, deliveries=SENT)
    for last_ms, expected in ((T0 + KEPT_CLOSED_MS, [closed]), (T0 + KEPT_CLOSED_MS + 1, [])):
        assert run([poll(last_ms, {})], before={"i-1": closed}, sent_close=frozenset({"other"})) == expected


def test_of_too_many_closed_ones_those_that_closed_first_are_forgotten() -> None:
    ids = [f"c-{number}" for number in range(MOST_CLOSED + 2)]
    before = {name: incident(id=name, closed_ms=T0 - number, deliveries=SENT) for number, name in enumerate(ids)}
    opened = incident(id="open", group_id="orders", deliveries=SENT)
    found = run([poll(T0, {"orders": Status.STOPPED})], before={"open": opened, **before})
    assert [one.id for one in found] == ["open", *ids[:MOST_CLOSED]]


def test_the_next_incident_of_a_group_has_another_id() -> None:
    closed = incident(id="old", closed_ms=T0, deliveries=SENT)
    found = run([poll(T0 + 1, {"billing": Status.STOPPED})], before={"old": closed})
    assert [one.id for one in found] == ["old", "i-1"]


def test_a_restart_closes_what_is_no_longer_read() -> None:
    stored = {"i-1": incident(deliveries=SENT), "i-2": incident(id="i-2", cluster="away")}
    found = restored(stored, ["prod"], T0 + 9)
    assert found["i-1"] == stored["i-1"]
    assert (found["i-2"].closed_ms, found["i-2"].evidence) == (T0 + 9, "the cluster is no longer monitored")


def test_the_verdicts_of_a_health_are_those_of_the_poll() -> None:
    made = poll_of("prod", health(1, T0, a=OK, b=WAITS, c=UNCOMMITTED), frozenset({"z"}))
    assert {name: made.verdicts[name] for name in "bc"} == {"b": Status.NO_MEMBERS, "c": Status.NEVER_COMMITTED}
    assert made.verdicts.keys() | made.undecided == {"a", "b", "c"}
    assert (made.at_ms, made.complete, made.seen) == (T0, True, frozenset({"z"}))
    assert made.finding("b").status is Status.NO_MEMBERS


verdicts = st.dictionaries(st.sampled_from("abc"), st.sampled_from(sorted(set(Status) - {Status.UNKNOWN})))


@given(st.lists(verdicts, max_size=12))
def test_at_most_one_is_open_for_a_group_and_its_id_lasts_while_it_is_not_ok(polls: list[dict[str, Status]]) -> None:
    ids, incidents = (f"i-{number}" for number in itertools.count()), dict[str, Incident]()
    runs: dict[str, str] = {}
    for number, found in enumerate(polls):
        incidents = dict(after(incidents, poll(T0 + number, found), Severity.INFO, TEAM, ids.__next__))
        opened = [one for one in incidents.values() if one.closed_ms is None]
        assert sorted(one.group_id for one in opened) == sorted(name for name in found if found[name] in INCIDENTS)
        now = {one.group_id: one.id for one in opened}
        assert all(now[name] == runs[name] for name in now.keys() & runs.keys())
        assert set(now.values()) - set(runs.values()) == {now[name] for name in now.keys() - runs.keys()}
        runs = now
