"""About: versions, settings, requests, a bundle without names. Demo: cases and buttons that act on the workload."""

import json
from dataclasses import replace
from typing import Any, cast

from app.notices.worker import TargetStatus
from app.ui import formats, state
from app.views.about import bundle
from lag.embedded.workload import describe
from lag.errors import ConfigError, EmbeddedError
from lag.generations.recorded import FollowStatus
from lag.model import Problem, Scope
from tests.app import feeds, synthetic
from tests.app.conftest import Open
from tests.app.demo import HandControls
from tests.app.reading import page_text, table


def test_about_shows_requests_per_broker_and_masked_settings(open_page: Open, feed: feeds.HandFeed) -> None:
    feed.report = feeds.report(at_ms=state.now_ms(), brokers=synthetic.BROKEN_BROKER, problems=synthetic.PROBLEMS)
    page = open_page("about")
    assert not page.exception
    assert page.title[0].value == "Snapshot 1 of `demo` is incomplete: 31 groups, 12 topics, 3 brokers"
    brokers = table(page, "Brokers with").set_index("broker")
    assert brokers.loc[3, "answered"] == "no answer within 5 s"
    assert brokers["requests"].sum() == 10
    assert "`••••`" in page_text(page)
    assert "0.31 s with 10 requests" in page_text(page)


def test_about_calls_the_pages_read_only_unless_the_server_may_write(open_page: Open, demo_source: Any) -> None:
    assert "These pages are read-only" in page_text(open_page("about", its=demo_source))
    settings = demo_source.settings.model_copy(update={"allow_writes": True})
    writing = page_text(open_page("about", its=replace(demo_source, settings=settings)))
    assert "read-only" not in writing
    assert "Only Reset offsets changes a group" in writing


def test_about_names_the_groups_that_we_may_not_describe(open_page: Open) -> None:
    page = open_page("about")
    assert page.title[0].value == "Snapshot 1 of `demo` is incomplete: 31 groups, 12 topics, 3 brokers"
    (row,) = table(page, "could not be read").to_dict("records")
    assert row == {
        "What": "group",
        "Name": "gdpr-erasure-worker",
        "Cause": "not authorised to describe it",
        "How to fix it": "Grant DESCRIBE on group gdpr-erasure-worker",
    }


def test_about_says_how_far_the_records_of_the_groups_are_read(open_page: Open, feed: feeds.HandFeed) -> None:
    assert "Switched off" in page_text(open_page("about"))
    denied = Problem("unauthorized", Scope.TOPIC, "offsets", "this account may not read it")
    feed.followed = FollowStatus(50, 49, 1200, 3, (denied,))
    page = open_page("about")
    assert not page.exception
    assert "49 of 50 partitions" in page_text(page)
    assert "1,200 records" in page_text(page)
    assert "3 could not be decoded" in page_text(page)
    assert "this account may not read it" in page_text(page)


def test_about_names_what_is_wrong_in_the_policy_file(open_page: Open, feed: feeds.HandFeed) -> None:
    assert "policy file" not in page_text(open_page("about"))
    problem = ConfigError("policy.yaml: line 3: lag_flor: The key is unknown")
    feed.report = feeds.report(at_ms=state.now_ms(), policy_problem=problem)
    page = open_page("about")
    assert not page.exception
    assert "The policy file is invalid" in page_text(page)
    assert formats.md(str(problem)) in page_text(page)


class HandNotifier:
    """Two targets, one of which fails."""

    is_standby = False
    file_problem: ConfigError | None = ConfigError("notices.yaml: line 3: slck: The key is unknown")

    def statuses(self) -> list[TargetStatus]:
        now_ms = state.now_ms()
        return [
            TargetStatus("team", "slack", sent=3, last_sent_ms=now_ms - 60_000),
            TargetStatus("pager", "pagerduty", failures=4, error="HTTP 503"),
        ]

    def problem(self) -> ConfigError:
        return ConfigError("state.json cannot be written")


def test_about_shows_which_targets_of_notices_take_them(open_page: Open, feed: feeds.HandFeed) -> None:
    assert "Notices" not in page_text(open_page("about"))
    its = replace(feeds.source(demo=feed), notifier=cast(Any, HandNotifier()))
    page = open_page("about", its=its)
    assert not page.exception
    shown = table(page, "Targets of notices")
    assert list(shown["target"]) == ["team", "pager"]
    assert list(shown["sent"]) == [3, 0]
    assert list(shown["state"]) == ["ok", "HTTP 503 (4 failures in a row)"]
    assert formats.md("state.json cannot be written") in page_text(page)
    assert formats.md("notices.yaml: line 3: slck") in page_text(page)


def test_about_says_that_another_server_sends_the_notices(open_page: Open, feed: feeds.HandFeed) -> None:
    notifier = HandNotifier()
    notifier.is_standby = True
    page = open_page("about", its=replace(feeds.source(demo=feed), notifier=cast(Any, notifier)))
    assert not page.exception
    assert "another server with the same state file sends them" in page_text(page)
    assert "state.json" not in page_text(page)


def test_the_bundle_holds_no_name(feed: feeds.HandFeed) -> None:
    report = feeds.report(brokers=synthetic.BROKEN_BROKER, problems=synthetic.PROBLEMS)
    settings = {
        "bootstrap.servers": "secret-host:9092",
        "security.protocol": "SASL_SSL",
        "ssl.truststore.location": "/x",
    }
    text = bundle.build(report, feed.status(), {"groupscope": "0.1.0"}, settings).decode()
    names = {g.group_id for g in report.snapshot.groups} | set(report.snapshot.topics) | {"secret-host", "10.4.0", "/x"}
    assert not [name for name in names if name in text]
    found = json.loads(text)
    assert found["verdicts"]["ok"] == 19
    assert found["snapshot"]["groups"] == 31
    assert found["settings"] == {"security.protocol": "SASL_SSL"}


def test_without_a_demo_there_is_no_panel(open_page: Open) -> None:
    page = open_page()
    assert "Demo" not in str(page.get("navigation"))
    assert not page.exception


def test_the_panel_compares_each_case_with_what_is_seen(open_page: Open, feed: feeds.HandFeed) -> None:
    page = open_page("demo", its=feeds.with_demo(feeds.source(demo=feed), HandControls()))
    assert not page.exception
    cases = table(page, "Cases of the demo")
    assert list(cases["group"]) == [case.group_id for case in describe()]
    assert page.title[0].value.startswith(f"0 of {len(cases)} ")


def test_a_group_whose_topics_were_deleted_here_is_expected_to_have_no_partitions(
    open_page: Open, feed: feeds.HandFeed
) -> None:
    """One that reads another topic as well is expected as before."""
    controls = HandControls(deleted=frozenset({"orders"}))
    page = open_page("demo", its=feeds.with_demo(feeds.source(demo=feed), controls))
    rows = {row["group"]: row for row in table(page, "Cases of the demo").to_dict("records")}
    assert list(rows["order-fulfilment"]["s"]) == ["▻ No partitions"]
    assert rows["order-fulfilment"]["shown"] == "Its topic orders was deleted: nothing is left to read."
    assert list(rows["fraud-scoring"]["s"]) == ["● OK"]


def test_pages_say_that_the_kafka_of_the_demo_has_ended(open_page: Open, feed: feeds.HandFeed) -> None:
    its = replace(feeds.source(demo=feed), ended=EmbeddedError("Broker 1 was killed (SIGKILL)", "Its log says why"))
    for name in ("overview", "topics", "demo"):
        page = open_page(name, its=feeds.with_demo(its, HandControls()))
        (said,) = [box.value for box in page.error]
        assert said == (
            "Broker 1 was killed \\(SIGKILL\\). This dashboard ends with it. Start both again with `groupscope up`."
        )


def test_a_button_acts_and_says_what_it_did(open_page: Open, feed: feeds.HandFeed) -> None:
    controls = HandControls()
    page = open_page("demo", its=feeds.with_demo(feeds.source(demo=feed), controls))
    page.button(key="demo_Kill").click().run()
    page.button(key="demo_+ 1,000 records").click().run()
    page.button(key="demo_Commit it").click().run()
    assert controls.asked == [
        ("kill_member", "order-fulfilment-1"),
        ("burst", "card-transfers", "1000"),
        ("commit_transaction", "card-transfers"),
    ]
    assert "kill\\_member order\\-fulfilment\\-1\\: done" in page_text(page)
    assert feed.polled_now == [1, 1, 1]


def test_a_dead_workload_is_reported_as_dead(open_page: Open, feed: feeds.HandFeed) -> None:
    page = open_page("demo", its=feeds.with_demo(feeds.source(demo=feed), HandControls(broken=True)))
    assert not page.exception
    assert "The workload does not answer" in page_text(page)
