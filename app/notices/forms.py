"""The forms in which targets take notices. Pure: a notice in, a message out. Raises InvalidTemplate."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from email.message import EmailMessage
from email.utils import format_datetime
from typing import Any

from app.notices.due import Event
from app.notices.messages import HttpRequest
from app.notices.notice import TEST_MARK, Notice, iso, words
from app.notices.templates import NoticeTemplate, escaped_for_slack
from lag.times import from_ms
from lag.verdict.catalogue import Severity

ALERT_NAME = "ConsumerGroupVerdict"
PAGERDUTY_URL = "https://events.pagerduty.com/v2/enqueue"
PAGERDUTY_SUMMARY = 1_024
"""The longest summary that PagerDuty takes."""
ALERT_LIVES_REPEATS = 4
"""An alert ends at Alertmanager if this many repetitions are missing, as with Prometheus."""
JSON_HEADERS = {"Content-Type": "application/json"}


@dataclass(frozen=True, slots=True)
class Webhook:
    """Any HTTP endpoint. Without a body template, the body is the notice as JSON; one for open and one for close."""

    url: NoticeTemplate = field(repr=False)
    close_url: NoticeTemplate = field(repr=False)
    method: str = "POST"
    close_method: str = "POST"
    body: NoticeTemplate | None = None
    close_body: NoticeTemplate | None = None
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)

    def request(self, notice: Notice) -> HttpRequest:
        """What is sent."""
        fields, close = notice.document(), notice.is_close
        body = self.close_body if close else self.body
        text = json.dumps(fields) if body is None else body.render(fields)
        url = (self.close_url if close else self.url).render(fields)
        headers = {**JSON_HEADERS, **self.headers}
        return HttpRequest(self.close_method if close else self.method, url, text.encode(errors="replace"), headers)


@dataclass(frozen=True, slots=True)
class Slack:
    """An incoming webhook of Slack, or of what takes the same (Mattermost, Rocket.Chat).

    `text` is a template `Into.SLACK`: its own links and mentions work, those in names of the cluster do not.
    """

    url: str = field(repr=False)
    text: NoticeTemplate | None = None

    def request(self, notice: Notice) -> HttpRequest:
        """What is sent."""
        text = _slack_text(notice) if self.text is None else _rendered(self.text, notice, "")
        return _post(self.url, {"text": text})


@dataclass(frozen=True, slots=True)
class PagerDuty:
    """The Events API v2. The id of the incident is the `dedup_key`."""

    routing_key: str = field(repr=False)
    url: str = field(default=PAGERDUTY_URL, repr=False)
    summary: NoticeTemplate | None = None

    def request(self, notice: Notice) -> HttpRequest:
        """What is sent: `trigger`, or `resolve` at the end."""
        event: dict[str, Any] = {
            "routing_key": self.routing_key,
            "event_action": "resolve" if notice.is_close else "trigger",
            "dedup_key": notice.incident.id,
        }
        return _post(self.url, event if notice.is_close else {**event, **self._payload(notice)})

    def _payload(self, notice: Notice) -> Mapping[str, Any]:
        incident = notice.incident
        payload = {
            "summary": _rendered(self.summary, notice, _line(notice))[:PAGERDUTY_SUMMARY],
            "source": incident.cluster,
            "severity": incident.severity.word,
            "timestamp": iso(incident.started_ms),
            "component": incident.group_id,
            "class": incident.verdict.value,
            "custom_details": notice.document(),
        }
        links = [] if notice.url is None else [{"href": notice.url, "text": "groupscope"}]
        return {"payload": payload, "client": "groupscope", "links": links}


@dataclass(frozen=True, slots=True)
class Alertmanager:
    """The API v2 of Alertmanager. An alert ends there if it is not repeated, so it is sent again every `repeat_ms`.

    `labels` are added to those of the alert: alertname, cluster, group, severity.
    """

    url: str = field(repr=False)
    repeat_ms: int
    labels: Mapping[str, str] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    summary: NoticeTemplate | None = None

    def request(self, notice: Notice) -> HttpRequest:
        """What is sent: the alert; and if its severity changed, the end of the one with the former severity."""
        severity, former = notice.incident.severity, notice.sent_severity
        ends_ms = notice.at_ms if notice.is_close else notice.at_ms + ALERT_LIVES_REPEATS * self.repeat_ms
        alerts = [self._alert(notice, severity, ends_ms)]
        if former is not None and former != severity:
            alerts.append(self._alert(notice, former, notice.at_ms))
        return _post(f"{self.url.rstrip('/')}/api/v2/alerts", alerts, self.headers)

    def _alert(self, notice: Notice, severity: Severity, ends_ms: int) -> Mapping[str, Any]:
        incident = notice.incident
        own = {"cluster": incident.cluster, "group": incident.group_id, "severity": severity.word}
        test = {"test": "true"} if notice.is_test else {}
        annotations = {
            "summary": _rendered(self.summary, notice, notice.summary),
            "description": incident.evidence,
            "verdict": incident.verdict.value,
            "incident": incident.id,
        }
        return {
            "labels": {**self.labels, "alertname": ALERT_NAME, **own, **test},
            "annotations": annotations,
            "startsAt": iso(incident.started_ms),
            "endsAt": iso(max(ends_ms, incident.started_ms)),  # a clock that was set back; it is refused otherwise
            **({} if notice.url is None else {"generatorURL": notice.url}),
        }


@dataclass(frozen=True, slots=True)
class Mail:
    """A plain-text mail. All mails of an incident are one thread."""

    sender: str
    to: Sequence[str]
    subject: NoticeTemplate | None = None
    text: NoticeTemplate | None = None

    def message(self, notice: Notice) -> EmailMessage:
        """What is sent."""
        made, thread = EmailMessage(), f"<{notice.incident.id}@groupscope>"
        made["From"], made["To"] = self.sender, ", ".join(self.to)
        made["Subject"] = _one_line(_rendered(self.subject, notice, notice.summary))
        made["Date"] = format_datetime(from_ms(notice.at_ms))
        made["Auto-Submitted"] = "auto-generated"
        if notice.event is Event.OPEN:
            made["Message-ID"] = thread
        else:
            made["Message-ID"] = f"<{notice.incident.id}.{notice.at_ms}@groupscope>"
            made["In-Reply-To"] = made["References"] = thread
        made.set_content(_encodable(_rendered(self.text, notice, _paragraph(notice))))
        return made


def _one_line(text: str) -> str:
    """Without line breaks and control characters, also those in an encoded word, which Python would decode."""
    printable = "".join(char if char.isprintable() else " " for char in _encodable(text))
    return " ".join(printable.replace("=?", "= ?").split())


def _encodable(text: str) -> str:
    return text.encode(errors="replace").decode()


def _rendered(template: NoticeTemplate | None, notice: Notice, default: str) -> str:
    """Of the template, marked if the notice is a test."""
    if template is None:
        return default
    return (TEST_MARK if notice.is_test else "") + template.render(notice.document())


def _post(url: str, document: object, headers: Mapping[str, str] | None = None) -> HttpRequest:
    return HttpRequest("POST", url, json.dumps(document).encode(), {**JSON_HEADERS, **(headers or {})})


def _line(notice: Notice) -> str:
    return f"{notice.summary}: {notice.incident.evidence}"


def _paragraph(notice: Notice) -> str:
    incident = notice.incident
    lines = [
        notice.summary,
        incident.evidence,
        f"Verdict: {words(incident.verdict)} ({incident.severity.word})",
        f"Since: {iso(incident.started_ms)}",
        f"Until: {iso(incident.closed_ms)}" if incident.closed_ms is not None else "",
        f"Page: {notice.url}" if notice.url is not None else "",
        f"Incident: {incident.id}",
    ]
    return "\n".join(filter(None, lines)) + "\n"


def _slack_text(notice: Notice) -> str:
    text = f"*{escaped_for_slack(notice.summary)}*\n{escaped_for_slack(notice.incident.evidence)}"
    return text if notice.url is None else f"{text}\n<{escaped_for_slack(notice.url)}|Open in groupscope>"
