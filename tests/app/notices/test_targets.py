"""The notices file: what it sets, and what is wrong in which line; a secret is in no error."""

import json
from datetime import time
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from app.notices.quiet import QuietHours
from app.notices.targets import load_notices
from lag.errors import ConfigError
from lag.verdict.catalogue import Severity
from tests.app.notices.made import SECRET, notice
from tests.support.notice_targets import http_server, smtp_server

FULL = """
dashboard: https://groupscope.example
state: /var/lib/groupscope/notices.json
maintenance:
  - start: 2026-12-01T22:00:00Z
    end: 2026-12-02T02:00:00+01:00
    clusters: [prod]
    groups: "billing-.*"
webhook:
  - name: burrow
    url: "https://hooks.example/{{ cluster }}"
    close_method: DELETE
    body: '{"group": {{ group | tojson }}, "team": {{ extras.team | tojson }}}'
    extras: {team: data}
    headers: {Authorization: "env:HOOK_TOKEN"}
slack:
  - name: team
    url: "file:SECRET_FILE"
    threshold: critical
    groups: "billing-.*|orders"
    exclude_groups: ".*-test"
    clusters: [prod]
    repeat_s: {critical: 900}
    send_close: false
    quiet_hours:
      - {start: "22:00", end: "07:00", time_zone: Europe/Berlin, days: [sat, sun], still_sent: critical}
pagerduty:
  - {name: on-call, routing_key: "env:HOOK_TOKEN"}
alertmanager:
  - {name: am, url: "http://am:9093", every_s: 30, labels: {team: data}}
email:
  - {name: mail, host: smtp.example, sender: g@example.com, to: [a@example.com], user: me, password: "env:HOOK_TOKEN"}
"""


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOOK_TOKEN", SECRET)
    (tmp_path / "secret").write_text(f"https://hooks.slack.example/{SECRET}\n")
    return tmp_path / "notices.yaml"


def written(file: Path, text: str) -> Path:
    file.write_text(text.replace("SECRET_FILE", str(file.with_name("secret"))))
    return file


def test_everything_can_be_set(file: Path) -> None:
    notices = load_notices(written(file, FULL))
    assert [(each.name, each.kind) for each in notices.targets] == [
        ("burrow", "webhook"),
        ("team", "slack"),
        ("on-call", "pagerduty"),
        ("am", "alertmanager"),
        ("mail", "email"),
    ]
    assert (notices.dashboard, notices.state) == (
        "https://groupscope.example",
        Path("/var/lib/groupscope/notices.json"),
    )
    rules = notices.target("team").rules
    assert (rules.threshold, rules.repeat_ms, rules.send_close) == (
        Severity.CRITICAL,
        {Severity.CRITICAL: 900_000},
        False,
    )
    assert rules.clusters == frozenset({"prod"})
    names = ["billing-eu", "billing-test", "orders", "orders-2"]
    assert [rules.has_group(name) for name in names] == [True, False, True, False]
    assert rules.quiet_hours == (
        QuietHours(time(22), time(7), ZoneInfo("Europe/Berlin"), frozenset({5, 6}), Severity.CRITICAL),
    )
    assert notices.target("am").rules.repeat_ms == dict.fromkeys(Severity, 30_000)
    (window,) = notices.maintenance
    assert window.end_ms - window.start_ms == 3 * 3600 * 1000
    assert window.covers("prod", "billing-eu", window.start_ms)
    assert not window.covers("prod", "orders", window.start_ms)


def test_a_name_that_no_target_has_is_refused_with_those_that_are(file: Path) -> None:
    with pytest.raises(
        ConfigError, match=r"No target is named 'pager'\. The targets are: burrow, team, on-call, am, mail"
    ):
        load_notices(written(file, FULL)).target("pager")


@pytest.mark.parametrize("text", ["", "# nobody\n", "slack: []"])
def test_without_targets_nothing_is_sent(file: Path, text: str) -> None:
    notices = load_notices(written(file, text))
    assert (notices.targets, notices.state) == ((), file.with_name("notices.yaml.state.json"))


def test_a_target_is_sent_what_its_form_makes(file: Path) -> None:
    with http_server() as web, smtp_server() as mails:
        text = FULL.replace("https://hooks.example/", f"{web.url}/").replace("http://am:9093", web.url)
        text = text.replace("host: smtp.example", f"host: 127.0.0.1, port: {mails.port}, security: none")
        text = text.replace('routing_key: "env:HOOK_TOKEN"', f'routing_key: "env:HOOK_TOKEN", url: "{web.url}/pd"')
        notices = load_notices(written(file, text))
        for name in ("burrow", "on-call", "am", "mail"):
            target = notices.target(name)
            target.send(notice(extras=target.extras))
        hook, pager, alerts = web.got
        assert (hook.line, hook.json) == ("POST /prod HTTP/1.1", {"group": "billing", "team": "data"})
        assert hook.headers["authorization"] == SECRET
        assert (pager.line, pager.json["routing_key"]) == ("POST /pd HTTP/1.1", SECRET)
        assert (alerts.line, alerts.json[0]["labels"]["team"]) == ("POST /api/v2/alerts HTTP/1.1", "data")
        assert [mail["To"] for mail in mails.mails] == ["a@example.com"]


WEBHOOK = "webhook:\n  - name: a\n    url: https://x/\n    "
SLACK = "slack:\n  - name: a\n    url: "
PAGERDUTY = "pagerduty:\n  - name: a\n    routing_key: "


@pytest.mark.parametrize(
    ("text", "stated"),
    [
        ("slck: []", "line 1: slck: The key 'slck' is unknown. Did you mean 'slack'?"),
        ("slack:\n  - url: https://x/", "line 2: slack[0].name: The key 'name' is missing."),
        (f"{SLACK}{SECRET}", "line 3: slack[0].url: A URL is expected"),
        (f"{SLACK}https://u:{SECRET}@x/", "line 3: slack[0].url: A login is not allowed"),
        (f"{SLACK}'http://[{SECRET}'", "line 3: slack[0].url: A URL is expected"),
        (f"{SLACK}env:NOT_SET", "line 3: slack[0].url: The environment variable NOT_SET is not set."),
        (f"{PAGERDUTY}file:/nowhere", "line 3: pagerduty[0].routing_key: /nowhere cannot be read"),
        (f"{PAGERDUTY}12", "line 3: pagerduty[0].routing_key: A string is expected."),
        (f"{WEBHOOK}threshhold: info", "line 4: webhook[0].threshhold: The key 'threshhold' is unknown. Did you"),
        (f"{WEBHOOK}threshold: severe", "line 4: webhook[0].threshold: This must be 'critical', 'warning' or 'info'"),
        (f"{WEBHOOK}groups: '('", "line 4: webhook[0].groups: This is not a valid RE2 expression."),
        (f"{WEBHOOK}repeat_s: {{critical: 1}}", "line 4: webhook[0].repeat_s.critical: This must be at least 10."),
        (f"{WEBHOOK}body: '{{{{ grup }}}}'", "line 4: webhook[0].body: The field 'grup' is unknown. Did you mean"),
        (f'{WEBHOOK}body: \'{{"g": "{{{{ group }}}}"}}\'', "line 4: webhook[0].body: The result is not JSON."),
        (f"{WEBHOOK}body: '{{% for i in group %}}{{% endfor %}}'", "line 4: webhook[0].body: {% for %} is not"),
        (f"{WEBHOOK}body: '{{{{ extras.team | tojson }}}}'", "line 4: webhook[0].body: It cannot be rendered"),
        (f"{WEBHOOK}body: '{{% if url %}}{{{{ extras.on_call }}}}{{% endif %}}1'", "webhook[0].body: It cannot be"),
        (f"{WEBHOOK}body: '{{% if closed %}}{{{{ extras.on_call }}}}{{% endif %}}1'", "webhook[0].body: It cannot be"),
        (f"{WEBHOOK}close_body: '{{% if url %}}-{{% else %}}1{{% endif %}}'", "webhook[0].close_body: The result is"),
        (
            f"{WEBHOOK}body: '1{{% if severity == \"info\" %}}-{{% endif %}}'",
            "webhook[0].body: The result is not JSON.",
        ),
        (f"{SLACK}https://x\n    text: ' '", "line 4: slack[0].text: The result is empty for the event 'open'"),
        (
            f"{SLACK}https://x\n    text: '{{{{ url }}}}'",
            "line 4: slack[0].text: The result is empty for the event 'open', severity critical, without a link.",
        ),
        (
            f"{PAGERDUTY}k\n    summary: '{{% if not closed %}}{{{{ group }}}}{{% endif %}}'",
            "pagerduty[0].summary: The result is empty for the event 'close', severity critical, without a link.",
        ),
        ("webhook:\n  - name: a\n    url: '{{ group }}'", "line 3: webhook[0].url: A URL is expected"),
        (f"{WEBHOOK}quiet_hours: [{{start: 25:00, end: '7:00'}}]", "quiet_hours[0].start: A time of day is expected"),
        (
            f"{WEBHOOK}quiet_hours: [{{start: '1:00', end: '7:00', time_zone: Mars}}]",
            "quiet_hours[0].time_zone: The time zone is unknown.",
        ),
        (
            "maintenance: [{start: 2026-12-01, end: 2026-12-02T00:00:00Z}]",
            "maintenance[0].start: A time with a UTC offset",
        ),
        (
            "email:\n  - {name: a, host: h, sender: g@x.y, to: ['a b']}",
            "line 2: email[0].to[0]: An e-mail address is expected",
        ),
        (f"{WEBHOOK}headers: {{'A B': x}}", 'line 4: webhook[0].headers["A B"]: This is not the name of an HTTP'),
        (f"{WEBHOOK}headers: {{Content-Length: '1'}}", "headers.Content-Length: This header is set by groupscope."),
        (
            f"{WEBHOOK}headers: {{A: '{SECRET} €'}}",
            "line 4: webhook[0].headers.A: The value of an HTTP header must contain",
        ),
        (f"{SLACK}'https://x/{SECRET} b'", "line 3: slack[0].url: A URL is expected"),
        (f"{SLACK}https://x/{SECRET}ü", "line 3: slack[0].url: A URL is expected"),
        ('slack: [{name: "a\\nb", url: "https://x"}]', "slack[0].name: A name must not contain control characters"),
        ("dashboard: https://x/?a=b", "line 1: dashboard: The address of the dashboard has no '?' or '#'."),
        (
            "maintenance: [{start: 2026-12-02T00:00:00Z, end: 2026-12-02T00:00:00Z}]",
            "maintenance[0].end: The end must be later than the start.",
        ),
        ("email:\n  - {name: a, host: h, sender: 'g:h@x', to: [a@b]}", "line 2: email[0].sender: An e-mail address"),
        ("email:\n  - {name: a, host: h, sender: 'a@[b', to: [a@b]}", "line 2: email[0].sender: An e-mail address"),
        ("email:\n  - {name: a, host: h, sender: 'a@[10.0.0.1', to: [a@b]}", "email[0].sender: An e-mail address"),
        ("email:\n  - {name: a, host: h, sender: ü@x, to: [a@b]}", "line 2: email[0].sender: An e-mail address"),
        ("email:\n  - {name: a, host: h, sender: g@x, to: [a@b], user: u}", "line 2: email[0]: A login needs both"),
        (f"{SLACK}https://x\n{PAGERDUTY}k", "more than one target is named a"),
    ],
)
def test_every_error_names_its_line_and_no_secret(file: Path, text: str, stated: str) -> None:
    with pytest.raises(ConfigError, match=r"notices\.yaml: ") as refused:
        load_notices(written(file, text))
    assert stated in str(refused.value)
    assert SECRET not in str(refused.value)


def test_a_body_of_the_end_is_tried_with_the_end_alone(file: Path) -> None:
    """Elsewhere `closed_ms` is null, of which this would make no JSON."""
    text = f"{WEBHOOK}close_body: '{{\"until\": {{{{ closed_ms }}}}}}'"
    assert load_notices(written(file, text)).targets[0].name == "a"


def test_a_body_that_is_not_json_needs_its_type(file: Path) -> None:
    text = f"{WEBHOOK}headers: {{Content-Type: text/plain}}\n    body: '{{{{ group }}}}'"
    assert load_notices(written(file, text)).targets[0].name == "a"


def test_secrets_are_not_in_the_text_of_targets(file: Path) -> None:
    notices = load_notices(written(file, FULL))
    assert SECRET not in repr(notices) + json.dumps([repr(each) for each in notices.targets])
