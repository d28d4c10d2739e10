"""What a target is sent: once at the begin, again when it is worse or it is time, and the end."""

from datetime import UTC, time
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from app.notices.due import Event, Rules, due
from app.notices.incidents import Delivery, Incident
from app.notices.quiet import Maintenance, QuietHours
from lag.verdict.catalogue import Severity
from lag.verdict.status import Status
from tests.app.notices.made import T0, incident

MINUTE = 60_000
NIGHT = QuietHours(time(0, 0), time(23, 59), UTC)


def event(its: Incident, at_ms: int = T0, maintenance: tuple[Maintenance, ...] = (), **rules: Any) -> Event | None:
    found = due("team", Rules(**rules), [its], maintenance, at_ms)
    return None if found is None else found[1]


def sent(severity: Severity = Severity.CRITICAL, **rest: Any) -> dict[str, Delivery]:
    return {"team": Delivery(severity, T0, **rest)}


def test_an_incident_at_the_threshold_is_sent_once() -> None:
    assert event(incident(Status.FALLING_BEHIND)) is Event.OPEN
    assert event(incident(Status.TOPIC_DELETED)) is None
    assert event(incident(deliveries=sent()), T0 + 10**9) is None
    assert event(incident(deliveries={"other": Delivery(Severity.CRITICAL, T0)})) is Event.OPEN


def test_a_notice_that_may_not_have_arrived_is_sent_again() -> None:
    assert event(incident(deliveries=sent(confirmed=False))) is Event.OPEN


def test_it_is_repeated_after_the_time_of_its_severity() -> None:
    rules: dict[str, Any] = {"repeat_ms": {Severity.CRITICAL: 5 * MINUTE}}
    assert event(incident(deliveries=sent()), T0 + 5 * MINUTE - 1, **rules) is None
    assert event(incident(deliveries=sent()), T0 + 5 * MINUTE, **rules) is Event.REPEAT
    behind = incident(Status.FALLING_BEHIND, deliveries=sent())
    assert event(behind, T0 + 10**9, **rules) is None


def test_it_is_repeated_when_the_clock_was_set_back() -> None:
    rules: dict[str, Any] = {"repeat_ms": {Severity.CRITICAL: 5 * MINUTE}}
    ahead = {"team": Delivery(Severity.CRITICAL, T0 + 60 * MINUTE)}
    assert event(incident(deliveries=ahead), **rules) is Event.REPEAT
    assert event(incident(deliveries=ahead)) is None


def test_a_more_serious_verdict_is_sent_at_once_and_a_lesser_one_is_not() -> None:
    assert event(incident(Status.STOPPED, deliveries=sent(Severity.WARNING))) is Event.ESCALATED
    assert event(incident(Status.FALLING_BEHIND, deliveries=sent(Severity.CRITICAL))) is None


def test_the_end_is_sent_to_the_targets_that_had_the_begin() -> None:
    over: dict[str, Any] = {"closed_ms": T0 + 1}
    assert event(incident(deliveries=sent(), **over)) is Event.CLOSE
    assert event(incident(deliveries=sent(confirmed=False), **over)) is Event.CLOSE
    assert event(incident(Status.CATCHING_UP, deliveries=sent(), **over)) is Event.CLOSE
    assert event(incident(deliveries=sent(closed=True), **over)) is None
    assert event(incident(**over)) is None
    assert event(incident(deliveries=sent(), **over), send_close=False) is None


def test_groups_and_clusters_that_are_not_chosen_are_not_sent() -> None:
    assert event(incident(), has_group=lambda name: name != "billing") is None
    assert event(incident(), clusters=frozenset({"test"})) is None
    assert event(incident(), clusters=frozenset({"prod"})) is Event.OPEN


def test_in_quiet_hours_only_what_is_severe_is_sent() -> None:
    hours = QuietHours(NIGHT.start, NIGHT.end, UTC, still_sent=Severity.CRITICAL)
    assert event(incident(), quiet_hours=(NIGHT,)) is None
    assert event(incident(), quiet_hours=(hours,)) is Event.OPEN
    assert event(incident(Status.FALLING_BEHIND), quiet_hours=(hours,)) is None


def test_in_maintenance_nothing_is_sent_of_its_groups() -> None:
    window = Maintenance(T0, T0 + MINUTE, frozenset({"prod"}), lambda name: name == "billing")
    assert event(incident(), T0, (window,)) is None
    assert event(incident(deliveries=sent(), closed_ms=T0), T0, (window,)) is None
    assert event(incident(), T0 + MINUTE, (window,)) is Event.OPEN
    assert event(incident(cluster="test"), T0, (window,)) is Event.OPEN
    assert event(incident(group_id="orders"), T0, (window,)) is Event.OPEN


def test_one_that_may_not_be_sent_does_not_hold_up_the_others() -> None:
    quiet, loud = incident(id="a", group_id="quiet"), incident(Status.FALLING_BEHIND, id="b")
    rules = Rules(has_group=lambda name: name != "quiet")
    assert due("team", rules, [quiet, loud], (), T0) == (loud, Event.OPEN)


def test_ends_come_first_then_the_most_severe() -> None:
    behind, stopped = incident(Status.FALLING_BEHIND, id="a"), incident(id="b")
    over = incident(id="c", closed_ms=T0, deliveries=sent())
    assert due("team", Rules(), [behind, stopped, over], (), T0) == (over, Event.CLOSE)
    assert due("team", Rules(), [behind, stopped], (), T0) == (stopped, Event.OPEN)


def test_those_that_failed_last_come_after_all_others() -> None:
    behind, stopped = incident(Status.FALLING_BEHIND, id="a"), incident(id="b")
    over = incident(id="c", closed_ms=T0, deliveries=sent())
    every = [behind, stopped, over]
    assert due("team", Rules(), every, (), T0, ["c", "b"]) == (behind, Event.OPEN)
    assert due("team", Rules(), every, (), T0, ["c", "a", "b"]) == (over, Event.CLOSE)


steps = st.lists(st.tuples(st.sampled_from(["worse", "better", "wait", "close"]), st.booleans()), max_size=20)


@given(steps)
def test_a_target_that_fails_now_and_then_sees_begin_and_end_once_each(steps: list[tuple[str, bool]]) -> None:
    """What arrives is: one begin, then anything but a begin, then one end; and no end without a begin."""
    its, now_ms, arrived = incident(Status.FALLING_BEHIND), T0, list[Event]()
    rules = Rules(repeat_ms=dict.fromkeys(Severity, MINUTE))
    for what, works in [*steps, ("close", True), ("wait", True)]:
        now_ms += MINUTE
        if what == "close" and its.closed_ms is None:
            its = incident(its.verdict, deliveries=its.deliveries, closed_ms=now_ms)
        elif its.closed_ms is None:
            verdict = {"worse": Status.STOPPED, "better": Status.FALLING_BEHIND}.get(what, its.verdict)
            its = incident(verdict, deliveries=its.deliveries)
        if works and (found := due("team", rules, [its], (), now_ms)):
            arrived.append(found[1])
            its = its.delivered("team", Delivery(its.severity, now_ms, True, its.closed_ms is not None))
    assert arrived[:1] in ([], [Event.OPEN])
    assert arrived[-1:] in ([], [Event.CLOSE])
    assert not {Event.OPEN, Event.CLOSE} & set(arrived[1:-1])
