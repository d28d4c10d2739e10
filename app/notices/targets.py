"""From the notices file to targets that can be sent notices."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Protocol

from app.notices import file_schema as schema
from app.notices.due import Rules
from app.notices.forms import Alertmanager, Mail, PagerDuty, Slack, Webhook
from app.notices.messages import HttpRequest, MailServer
from app.notices.notice import Notice
from app.notices.quiet import DAYS, EVERY_DAY, Maintenance, QuietHours
from app.notices.senders import send_http, send_mail
from lag.errors import ConfigError
from lag.name_patterns import chosen
from lag.settings_file import load_settings_file
from lag.verdict.catalogue import SEVERITIES, Severity

CACHED_GROUPS = 65_536
"""The group ids of which a target remembers whether its patterns choose them."""

Send = Callable[[Notice], None]


class HttpForm(Protocol):
    """A form of `app.notices.forms` that is sent over HTTP."""

    def request(self, notice: Notice) -> HttpRequest:
        """What is sent."""


@dataclass(frozen=True, slots=True)
class Target:
    """Where notices go. `send` raises Undelivered or InvalidTemplate, and returns once the target has the notice."""

    name: str
    kind: str
    rules: Rules
    send: Send = field(repr=False)
    extras: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Notices:
    """The notices file. `state`: where open incidents are kept between runs."""

    targets: tuple[Target, ...]
    state: Path
    dashboard: str | None = None
    maintenance: tuple[Maintenance, ...] = ()

    def target(self, name: str) -> Target:
        """Raises ConfigError if there is none of that name."""
        for target in self.targets:
            if target.name == name:
                return target
        raise ConfigError(f"No target is named {name!r}", f"The targets are: {', '.join(t.name for t in self.targets)}")


def load_notices(path: Path) -> Notices:
    """Raises ConfigError, which names the lines of what is wrong, and no value that may be secret."""
    file = load_settings_file(path, schema.NoticesFile, "notices file")
    targets = tuple(_targets(file))
    names = [target.name for target in targets]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise ConfigError(f"{path}: more than one target is named {', '.join(twice)}", "Give each a name of its own")
    state = path.with_name(f"{path.name}.state.json") if file.state is None else path.parent / file.state
    return Notices(targets, state, file.dashboard, tuple(map(_maintenance, file.maintenance)))


def _targets(file: schema.NoticesFile) -> Iterator[Target]:
    yield from (_target("webhook", each, _http(_webhook(each), each.timeout_s)) for each in file.webhook)
    yield from (_target("slack", each, _http(Slack(each.url, each.text), each.timeout_s)) for each in file.slack)
    for paged in file.pagerduty:
        form = PagerDuty(paged.routing_key, paged.url, paged.summary)
        yield _target("pagerduty", paged, _http(form, paged.timeout_s))
    yield from (_target("alertmanager", each, _http(_alertmanager(each), each.timeout_s)) for each in file.alertmanager)
    yield from (_target("email", each, _email(each)) for each in file.email)


def _target(kind: str, file: schema.TargetFile, send: Send) -> Target:
    return Target(file.name, kind, _rules(file), send, file.extras)


def _rules(file: schema.TargetFile) -> Rules:
    return Rules(
        threshold=SEVERITIES[file.threshold],
        repeat_ms=_repeat_ms(file),
        send_close=file.send_close,
        quiet_hours=tuple(map(_quiet_hours, file.quiet_hours)),
        clusters=_names(file.clusters),
        has_group=_choice(file.groups, file.exclude_groups),
    )


def _repeat_ms(file: schema.TargetFile) -> dict[Severity, int]:
    if isinstance(file, schema.AlertmanagerFile):
        return dict.fromkeys(Severity, round(file.every_s * 1000))
    given = file.repeat_s.model_dump(exclude_none=True)
    return {SEVERITIES[name]: round(seconds * 1000) for name, seconds in given.items()}


def _choice(include: str | None, exclude: str | None) -> Callable[[str], bool]:
    """Whether a group id matches `include` (None: all) and not `exclude` (None: none)."""
    return lru_cache(CACHED_GROUPS)(lambda group_id: bool(chosen([group_id], include, exclude)[0]))


def _quiet_hours(file: schema.QuietHoursFile) -> QuietHours:
    days = EVERY_DAY if file.days is None else frozenset(map(DAYS.index, file.days))
    still_sent = None if file.still_sent is None else SEVERITIES[file.still_sent]
    return QuietHours(file.start, file.end, file.time_zone, days, still_sent)


def _maintenance(file: schema.MaintenanceFile) -> Maintenance:
    return Maintenance(file.start, file.end, _names(file.clusters), _choice(file.groups, file.exclude_groups))


def _names(listed: Sequence[str] | None) -> frozenset[str] | None:
    return None if listed is None else frozenset(listed)


def _http(form: HttpForm, timeout_s: float) -> Send:
    return lambda notice: send_http(form.request(notice), timeout_s)


def _webhook(file: schema.WebhookFile) -> Webhook:
    return Webhook(
        file.url,
        file.close_url or file.url,
        file.method,
        file.close_method or file.method,
        file.body,
        file.close_body or file.body,
        file.headers,
    )


def _alertmanager(file: schema.AlertmanagerFile) -> Alertmanager:
    return Alertmanager(file.url, round(file.every_s * 1000), file.labels, file.headers, file.summary)


def _email(file: schema.EmailFile) -> Send:
    server = MailServer(file.host, file.port, file.security, file.user, file.password)
    form = Mail(file.sender, file.to, file.subject, file.text)
    return lambda notice: send_mail(server, form.message(notice), file.timeout_s)
