"""Advice on a properties file, pasted or by command: findings with lines, what is refused, what is never repeated."""

from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from app.pages import BY_NAME
from app.properties_advice import Kind, PropertiesAdvice, advise_text
from assignors.advice import Severity, Workload
from lag.errors import ConfigError
from tests.app.cli.commandline import refused, run
from tests.app.conftest import Open
from tests.app.reading import page_text

COOPERATIVE = "partition.assignment.strategy=org.apache.kafka.clients.consumer.CooperativeStickyAssignor\n"
SECRET = "hunter2"


def paste(page: AppTest, text: str) -> AppTest:
    return page.text_area(key="advice_text").input(text).run()


def reported(advised: PropertiesAdvice) -> list[tuple[str, str, int | None]]:
    return [(its.finding.key, its.finding.severity.value, its.line) for its in advised.findings]


def test_page_says_what_it_is_for(open_page: Open) -> None:
    page = open_page("advice")
    assert not page.exception
    assert page.title[0].value == BY_NAME["advice"].question
    assert "`groupscope advise client.properties`" in page_text(page)


def test_pasted_settings_are_judged_with_reason_source_and_better_value(open_page: Open) -> None:
    page = paste(open_page("advice"), f"{COOPERATIVE}\nheartbeat.interval.ms = 45000\nsesion.timeout.ms: 9000\n")
    assert not page.exception
    assert page.title[0].value == "1 error and 1 warning in 3 settings"
    assert "Error] **`heartbeat.interval.ms`** :small[:gray[line 3]]" in page_text(page)
    assert "Better: `15000` · :gray[Source: Heartbeat \\(constructor\\)]" in page_text(page)
    assert "Did you mean session\\.timeout\\.ms?" in page_text(page)


def test_nothing_pasted_stands_in_the_url_and_no_secret_on_the_page(
    open_page: Open, caplog: pytest.LogCaptureFixture
) -> None:
    text = f"group.id=g\npassword={SECRET}\n{SECRET}\nssl.key.password={SECRET}\nmax.poll.records={SECRET}\n"
    page = paste(open_page("advice"), text)
    assert page.title[0].value == "1 error and 1 warning in 3 settings"
    assert dict(page.query_params) == {}
    assert SECRET not in page_text(page)
    assert SECRET not in caplog.text
    assert "Not a setting\\: lines 2 and 3\\." in page_text(page)


def test_what_is_known_of_the_work_counts(open_page: Open) -> None:
    page = paste(open_page("advice"), COOPERATIVE)
    assert page.title[0].value == "No findings in 1 setting"
    page = page.number_input(key="advice_p99").set_value(600).run()
    assert page.title[0].value == "1 warning in 1 setting"
    assert "500 records of 600 ms may take 300000 ms" in page_text(page)


def test_outages_and_what_stands_behind_a_broker_count(open_page: Open) -> None:
    page = paste(open_page("advice"), f"{COOPERATIVE}group.id=g\ngroup.instance.id=pod-1\n")
    page = page.number_input(key="advice_tolerated").set_value(30_000).run()
    page = page.number_input(key="advice_outage").set_value(8 * 86_400_000).run()
    page = page.number_input(key="advice_batch").set_value(400_000).run()
    page = page.toggle(key="advice_finally").set_value(True).run()
    assert page.title[0].value == "4 warnings in 3 settings"
    page = paste(open_page("advice", kind="broker"), "min.insync.replicas=1")
    assert page.title[0].value == "No findings in 1 setting"
    assert page.toggle(key="advice_acks").set_value(True).run().title[0].value == "1 warning in 1 setting"


def test_brokers_settings_are_chosen_in_the_url(open_page: Open) -> None:
    page = paste(open_page("advice", kind="broker"), "offsets.topic.replication.factor=1\nlog.dirs=/data")
    assert page.title[0].value == "1 warning in 2 settings"
    page = page.segmented_control(key="advice_kind").set_value(Kind.CONSUMER).run()
    assert "settings of a broker" in page_text(page)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("# only a comment", "There is no setting in an empty text"),
        ('{"session_timeout": 45000}', "There is no setting in 1 line"),
        ("hello world\nfoo bar", "There is no setting in 2 lines"),
        ("group.id=\\u12", "The text, line 1: \\u is not followed by four hexadecimal digits"),
        ("x" * 1_000_001, "The text is larger than 1 MB"),
    ],
    ids=["comment", "json", "prose", "escape", "large"],
)
def test_what_cannot_be_read_is_refused_in_a_sentence(open_page: Open, text: Any, why: str) -> None:
    with pytest.raises(ConfigError) as refusal:
        advise_text(text, Kind.CONSUMER)
    assert refusal.value.cause == why
    if len(text) < 100_000:  # the box takes no more
        page = paste(open_page("advice"), text)
        assert not page.exception
        assert page.title[0].value == "The text cannot be read"


def test_the_example_shows_an_error_and_warnings(open_page: Open) -> None:
    page = open_page("advice").button(key="advice_example").click().run()
    assert page.title[0].value == "1 error and 3 warnings in 7 settings"


def test_line_of_each_finding_and_a_setting_that_stands_twice() -> None:
    text = COOPERATIVE + "session.timeout.ms=1000\nheartbeat.interval.ms=300\nsession.timeout.ms=2000\n"
    advised = advise_text(text, Kind.CONSUMER)
    assert reported(advised) == [("session.timeout.ms", "warning", 4), ("session.timeout.ms", "error", 4)]
    assert "is set on line 2 and again on line 4; the last one counts" in advised.findings[0].finding.reason
    assert "session.timeout.ms 2000 is outside the broker's 6000 to 1800000" in advised.findings[1].finding.reason


def test_placeholders_are_not_judged() -> None:
    advised = advise_text(COOPERATIVE + "session.timeout.ms=${env:SESSION}\n", Kind.CONSUMER)
    assert (advised.findings, advised.placeholder_lines, advised.settings) == ((), (2,), 2)


@pytest.mark.parametrize(
    ("line", "is_named"),
    [
        ("schema.registry.url=http://x", True),
        ("groupid=x", True),
        ("my.token", False),
        ("c2VjcmV0Cg==", False),
        ("Bearer eyJhbGciOi", False),
        (f"{'a.' * 40}b=1", False),
    ],
)
def test_only_what_is_written_like_a_setting_is_named(line: str, is_named: bool) -> None:
    advised = advise_text(f"{COOPERATIVE}{line}\n", Kind.CONSUMER)
    assert (len(advised.findings), advised.unknown_lines) == ((1, ()) if is_named else (0, (2,)))


def test_whole_numbers_are_those_that_kafka_reads() -> None:
    for value in ("1_000", "𝟏", "0x10", "1e3", ""):
        advised = advise_text(f"{COOPERATIVE}max.poll.records={value}\n", Kind.CONSUMER)
        assert reported(advised) == [("max.poll.records", "error", 2)]
    slow = advise_text(f"{COOPERATIVE}max.poll.records=+1000\n", Kind.CONSUMER, Workload(record_p99_ms=151))
    assert slow.count(Severity.WARNING) == 1


def test_command_prints_a_line_for_each_finding(tmp_path: Path) -> None:
    file = tmp_path / "client.properties"
    file.write_text(f"{COOPERATIVE}heartbeat.interval.ms=20000\n{SECRET}\n")
    done = run("advise", str(file))
    assert done.code == 0
    assert done.out == (
        f"{file}:2: warning: heartbeat.interval.ms: Fewer than 3 heartbeats of 20000 ms fit into the session of "
        "45000 ms. Better: 15000. [ConsumerConfig]\n"
    )
    assert done.err == f"{file}: line 3: not a setting\n{file}: 1 warning in 2 settings\n"


def test_command_as_json_fails_where_kafka_would_refuse(tmp_path: Path) -> None:
    file = tmp_path / "server.properties"
    file.write_text("group.consumer.session.timeout.ms=61000\nnode.id=1\n")
    done = run("advise", "--broker", str(file), "--json")
    assert done.code == 1
    assert done.document == {
        "file": str(file),
        "kind": "broker",
        "settings": 2,
        "findings": [
            {
                "severity": "error",
                "setting": "group.consumer.session.timeout.ms",
                "line": 1,
                "reason": "group.consumer.session.timeout.ms 61000 is outside 45000 to 60000 "
                "(IllegalArgumentException); the broker does not start.",
                "better": "60000",
                "source": "GroupCoordinatorConfig",
            }
        ],
        "lines_without_a_setting": [],
        "lines_with_a_placeholder": [],
    }


def test_command_names_what_kafka_refuses_with_its_error_and_the_allowed_range(tmp_path: Path) -> None:
    file = tmp_path / "client.properties"
    file.write_text(f"{COOPERATIVE}max.poll.records=0\nisolation.level={SECRET}\n")
    done = run("advise", str(file))
    assert (done.code, SECRET in done.out) == (1, False)
    assert done.out.splitlines() == [
        f"{file}:2: error: max.poll.records: max.poll.records is 0: Kafka throws ConfigException, expecting a number "
        "of type INT, at least 1. Better: 500. [ConsumerConfig]",
        f"{file}:3: error: isolation.level: The value of isolation.level is refused: Kafka throws ConfigException, "
        "expecting read_committed or read_uncommitted. Better: read_uncommitted. [ConsumerConfig]",
    ]


def test_command_takes_what_is_known_of_the_work(tmp_path: Path) -> None:
    consumer, broker = tmp_path / "client.properties", tmp_path / "server.properties"
    consumer.write_text(f"{COOPERATIVE}group.id=g\ngroup.instance.id=pod-1\n")
    broker.write_text("group.max.size=100\n")
    known = ("--batch-ms", "400000", "--tolerated-outage-ms", "30000", "--planned-outage-ms", "700000000")
    done = run("advise", str(consumer), *known, "--closes-in-finally", "--json")
    assert [its["setting"] for its in done.document["findings"]] == [
        "enable.auto.commit",
        "max.poll.interval.ms",
        "session.timeout.ms",
        "auto.offset.reset",
    ]
    done = run("advise", "--broker", "--acks-all", str(broker), "--json")
    assert [(its["setting"], its["better"]) for its in done.document["findings"]] == [("min.insync.replicas", "2")]


def test_command_refuses_what_it_cannot_read(tmp_path: Path) -> None:
    missing = tmp_path / "none.properties"
    assert refused("advise", str(missing)) == f"There is no file {missing}. Check the path."
    binary = tmp_path / "key.store"
    binary.write_bytes(b"\x00\x01\x02")
    assert refused("advise", str(binary)).startswith(f"{binary} is not a text file.")
