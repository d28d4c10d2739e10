"""Each form has what its receiver asks for; secrets are in what is sent, and in no text about it."""

import json
from email import message_from_bytes
from email.policy import SMTP, default
from typing import Any

import pytest

from app.notices.due import Event
from app.notices.forms import Alertmanager, Mail, PagerDuty, Slack, Webhook
from app.notices.templates import Into, compiled
from lag.verdict.catalogue import Severity
from lag.verdict.status import Status
from tests.app.notices.made import SECRET, T0, incident, notice

FIELDS = list(notice().document())
PAGE = "https://groupscope.example/group?cluster=prod&group=billing"
LINK = PAGE.replace("&", "&amp;")
BEGAN, AT, LATER = "2026-09-21T14:13:20Z", "2026-09-21T14:14:20Z", "2026-09-21T14:18:20Z"


def webhook(**rest: Any) -> Webhook:
    url = compiled(f"https://hooks.example/{SECRET}/{{{{ id }}}}", FIELDS, into=Into.URL)
    return Webhook(**{"url": url, "close_url": url, **rest})


def test_a_webhook_is_sent_the_notice_as_json() -> None:
    request = webhook(headers={"Authorization": f"Bearer {SECRET}"}).request(notice(extras={"team": "data"}))
    assert (request.method, request.url) == ("POST", f"https://hooks.example/{SECRET}/i-1")
    assert request.headers == {"Content-Type": "application/json", "Authorization": f"Bearer {SECRET}"}
    assert json.loads(request.body) == {
        "id": "i-1",
        "event": "open",
        "cluster": "prod",
        "group": "billing",
        "verdict": "stopped",
        "severity": "critical",
        "summary": "billing on prod: stopped",
        "evidence": "1,024 records behind",
        "started": BEGAN,
        "started_ms": T0,
        "closed": None,
        "closed_ms": None,
        "at": AT,
        "at_ms": T0 + 60_000,
        "url": None,
        "extras": {"team": "data"},
        "test": False,
    }


def test_a_webhook_has_url_method_and_body_for_the_end_apart() -> None:
    form = webhook(
        close_url=compiled("https://hooks.example/end", FIELDS, into=Into.URL),
        close_method="DELETE",
        body=compiled("{{ event }}", FIELDS),
        close_body=compiled("over at {{ closed }}", FIELDS),
    )
    assert form.request(notice()).body == b"open"
    end = form.request(notice(Event.CLOSE))
    assert (end.method, end.url, end.body) == ("DELETE", "https://hooks.example/end", f"over at {AT}".encode())


def test_slack_is_sent_a_text_without_markup_of_others() -> None:
    form, its = Slack("https://hooks.example/x"), incident(group_id="<!channel> & co")
    request = form.request(notice(its=its, url=PAGE))
    assert json.loads(request.body) == {
        "text": f"*&lt;!channel&gt; &amp; co on prod: stopped*\n1,024 records behind\n<{LINK}|Open in groupscope>"
    }
    own = Slack("https://hooks.example/x", compiled("<!here> <{{ url }}|{{ group }}>", FIELDS, Into.SLACK))
    assert json.loads(own.request(notice(its=its, url=PAGE)).body) == {
        "text": f"<!here> <{LINK}|&lt;!channel&gt; &amp; co>"
    }


def test_pagerduty_triggers_and_resolves_under_the_id_of_the_incident() -> None:
    form = PagerDuty(SECRET)
    begin = json.loads(form.request(notice(url=PAGE)).body)
    details = begin["payload"].pop("custom_details")
    assert begin == {
        "routing_key": SECRET,
        "event_action": "trigger",
        "dedup_key": "i-1",
        "client": "groupscope",
        "links": [{"href": PAGE, "text": "groupscope"}],
        "payload": {
            "summary": "billing on prod: stopped: 1,024 records behind",
            "source": "prod",
            "severity": "critical",
            "timestamp": BEGAN,
            "component": "billing",
            "class": "stopped",
        },
    }
    assert details["evidence"] == "1,024 records behind"
    end = json.loads(form.request(notice(Event.CLOSE)).body)
    assert end == {"routing_key": SECRET, "event_action": "resolve", "dedup_key": "i-1"}


def test_a_summary_for_pagerduty_has_at_most_1024_characters() -> None:
    request = PagerDuty(SECRET).request(notice(its=incident(evidence="x" * 3_000)))
    assert len(json.loads(request.body)["payload"]["summary"]) == 1_024


def test_alertmanager_is_sent_an_alert_that_ends_by_itself() -> None:
    form = Alertmanager("http://am:9093/", 60_000, {"team": "data"})
    request = form.request(notice(url=PAGE))
    assert request.url == "http://am:9093/api/v2/alerts"
    (alert,) = json.loads(request.body)
    assert alert == {
        "labels": {
            "alertname": "ConsumerGroupVerdict",
            "cluster": "prod",
            "group": "billing",
            "severity": "critical",
            "team": "data",
        },
        "annotations": {
            "summary": "billing on prod: stopped",
            "description": "1,024 records behind",
            "verdict": "stopped",
            "incident": "i-1",
        },
        "startsAt": BEGAN,
        "endsAt": LATER,
        "generatorURL": PAGE,
    }
    (end,) = json.loads(form.request(notice(Event.CLOSE)).body)
    assert (end["labels"], end["endsAt"]) == (alert["labels"], AT)


def test_an_alert_does_not_end_before_it_starts_if_the_clock_was_set_back() -> None:
    its = incident(started_ms=T0 + 3_600_000, closed_ms=T0)
    (end,) = json.loads(Alertmanager("http://am", 60_000).request(notice(Event.CLOSE, its=its)).body)
    assert end["endsAt"] == end["startsAt"]


def test_an_alert_of_another_severity_ends_the_former_one() -> None:
    its = notice(Event.ESCALATED, Status.STOPPED, sent_severity=Severity.WARNING)
    alerts = json.loads(Alertmanager("http://am", 60_000).request(its).body)
    assert [(one["labels"]["severity"], one["endsAt"]) for one in alerts] == [("critical", LATER), ("warning", AT)]


def test_mails_of_an_incident_are_one_thread() -> None:
    form = Mail("groupscope@example.com", ["a@example.com", "b@example.com"])
    begin, end = form.message(notice(url=PAGE)), form.message(notice(Event.CLOSE))
    assert (begin["Subject"], begin["To"]) == ("billing on prod: stopped", "a@example.com, b@example.com")
    assert (end["Subject"], end["In-Reply-To"]) == ("billing on prod: closed, was stopped", begin["Message-ID"])
    assert {"1,024 records behind", f"Page: {PAGE}", "Incident: i-1"} <= set(begin.get_content().splitlines())
    assert begin["Message-ID"] != end["Message-ID"]


def test_a_name_with_a_line_break_adds_no_header_to_a_mail() -> None:
    message = Mail("g@example.com", ["a@example.com"]).message(notice(its=incident(group_id="x\nBcc: y@example.com")))
    assert message["Bcc"] is None
    assert message["Subject"] == "x Bcc: y@example.com on prod: stopped"


@pytest.mark.parametrize(
    "name",
    [
        f"\u2028 =?utf-8?q?=0ABcc?=Bcc: x@y😀 {'a' * 60}Bcc: x@y",
        "=?utf-8?q?x=0D=0ABcc:_y@example.com?=",
        "=?=?utf-8?b?CkJjYzogeUBl?=",
        "a\0b\x1b[31m",
        "lone \ud800",
    ],
)
def test_what_goes_over_the_wire_has_the_headers_of_the_form_only(name: str) -> None:
    """Python decodes =?utf-8?q?…?= in what a subject is set to, line breaks too, and writes these as they are."""
    message = Mail("g@example.com", ["a@example.com"]).message(notice(its=incident(group_id=name, evidence=name)))
    wire = message.as_bytes(policy=SMTP)
    head, _, _ = wire.partition(b"\r\n\r\n")
    sent = {line.split(b":")[0] for line in head.splitlines() if not line[:1].isspace()}
    assert sent == set(map(str.encode, message.keys()))
    assert "\n" not in str(message_from_bytes(wire, policy=default)["Subject"])
    assert message_from_bytes(wire, policy=default)["Bcc"] is None


def test_a_test_is_marked_in_every_form() -> None:
    test, text = notice(is_test=True), compiled("own", FIELDS)
    assert "[TEST]" in json.loads(Slack("https://x").request(test).body)["text"]
    assert "[TEST]" in json.loads(Slack("https://x", text).request(test).body)["text"]
    assert "[TEST]" in json.loads(PagerDuty(SECRET, summary=text).request(test).body)["payload"]["summary"]
    (alert,) = json.loads(Alertmanager("http://am", 60_000).request(test).body)
    assert alert["labels"]["test"] == "true"
    assert Mail("g@example.com", ["a@example.com"], text).message(test)["Subject"] == "[TEST] own"
    assert json.loads(webhook().request(test).body)["test"] is True


def test_secrets_are_in_no_text_of_forms_and_requests() -> None:
    form = webhook(headers={"Authorization": SECRET})
    requests = [form.request(notice()), PagerDuty(SECRET).request(notice()), Slack(SECRET).request(notice())]
    assert not [each for each in (form, PagerDuty(SECRET, SECRET), Slack(SECRET), *requests) if SECRET in repr(each)]
