"""What the notices file may contain: its keys, their types and limits."""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from datetime import datetime, time
from email.errors import HeaderParseError
from email.headerregistry import Address as MailAddress
from functools import partial
from itertools import product
from typing import Annotated, Any, Literal, Self
from zoneinfo import ZoneInfo

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, PlainValidator, ValidationInfo, model_validator
from pydantic_core import PydanticCustomError

from app.http_urls import dashboard_url, http_url
from app.metrics.options import InvalidOption
from app.metrics.options import pattern as re2_pattern
from app.notices.due import Event
from app.notices.forms import PAGERDUTY_URL
from app.notices.incidents import Incident
from app.notices.notice import Notice, group_page
from app.notices.secrets import resolved
from app.notices.templates import Into, NoticeTemplate, compiled
from lag.times import ms
from lag.verdict.status import Status

TEST_ID = "00000000-0000-4000-8000-000000000000"
SAMPLE = Incident(TEST_ID, 'pro"d', 'billing "eu" <a&b>', Status.STOPPED, "1,024 records behind, \\ no commit", 0)
"""Has the characters that a template has to escape."""
SAMPLE_VERDICTS = (Status.STOPPED, Status.FALLING_BEHIND, Status.TOPIC_DELETED)
"""One of each severity."""
SAMPLE_DASHBOARD = "https://groupscope.example"
_HEADER_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_OWN_HEADERS = frozenset({"content-length", "host", "transfer-encoding"})
FIELDS = tuple(Notice(SAMPLE, Event.OPEN, 0).document())


def _parsed(parse: Callable[[str], object]) -> PlainValidator:
    """A key whose text is parsed; a ValueError becomes the sentence about the key."""
    return PlainValidator(lambda value: _result(parse, value))


def _parsed_beside(parse: Callable[[str, ValidationInfo], object]) -> PlainValidator:
    """As `_parsed`, with the keys before it."""

    def parsed(value: object, info: ValidationInfo) -> object:
        return _result(lambda text: parse(text, info), value)

    return PlainValidator(parsed)


def _result(parse: Callable[[str], object], value: object) -> object:
    if not isinstance(value, str):
        raise _sentence("A string is expected.")
    try:
        return parse(value)
    except InvalidOption as error:
        raise _sentence(f"{error.cause[:1].upper()}{error.cause[1:]}.") from None
    except ValueError as error:
        raise _sentence(str(error)) from None


def _sentence(text: str) -> PydanticCustomError:
    return PydanticCustomError("sentence", "{text}", {"text": text})


def _header_name(name: str) -> str:
    if not _HEADER_NAME.fullmatch(name):
        raise ValueError("This is not the name of an HTTP header.")
    if name.lower() in _OWN_HEADERS:
        raise ValueError("This header is set by groupscope.")
    return name


def _header(value: str) -> str:
    found = resolved(value)
    try:
        found.encode("latin-1")
    except UnicodeEncodeError:
        raise ValueError("The value of an HTTP header must contain only ISO 8859-1 characters.") from None
    return found


def _secret_url(text: str) -> str:
    return http_url(resolved(text))


def _url_template(text: str, info: ValidationInfo) -> NoticeTemplate:
    return _tried(resolved(text), info, Into.URL)


def _body_template(text: str, info: ValidationInfo) -> NoticeTemplate:
    return _tried(text, info, is_json=_sends_json(info.data.get("headers") or {}))


def _sends_json(headers: Mapping[str, str]) -> bool:
    types = [value for name, value in headers.items() if name.lower() == "content-type"]
    return "json" in (types or ["json"])[-1]


def _message_template(text: str, info: ValidationInfo, into: Into = Into.TEXT) -> NoticeTemplate:
    return _tried(text, info, into, is_message=True)


def _tried(
    text: str, info: ValidationInfo, into: Into = Into.TEXT, is_json: bool = False, is_message: bool = False
) -> NoticeTemplate:
    """The template, after it made a text of samples: what would fail at night fails now. Raises ValueError."""
    template = compiled(text, FIELDS, into)
    extras: Mapping[str, str] = info.data.get("extras") or {}
    for sample in _samples((info.field_name or "").startswith("close_")):
        made = template.render(replace(sample, extras=extras).document())
        if into is Into.URL:
            http_url(made)
        if is_json:
            _check_json(made)
        if is_message and not made.strip():
            link = "without a link" if sample.url is None else "with a link"
            severity = sample.incident.severity.word
            raise ValueError(f"The result is empty for the event '{sample.event}', severity {severity}, {link}.")
    return template


def _samples(only_close: bool) -> Iterator[Notice]:
    """A notice of each severity and event, with a link and without one; `only_close`: of the end alone."""
    for verdict, event in product(SAMPLE_VERDICTS, (Event.CLOSE,) if only_close else Event):
        incident = replace(SAMPLE, verdict=verdict, closed_ms=0 if event is Event.CLOSE else None)
        for dashboard in (None, SAMPLE_DASHBOARD):
            yield Notice(incident, event, 0, group_page(dashboard, incident))


def _check_json(text: str) -> None:
    try:
        json.loads(text)
    except ValueError:
        raise ValueError(
            "The result is not JSON. Insert texts as {{ group | tojson }}, without quotes around it."
        ) from None


def _clock(text: str) -> time:
    try:
        return datetime.strptime(text, "%H:%M").time()
    except ValueError:
        raise ValueError("A time of day is expected, such as '22:00'.") from None


def _zone(name: str) -> ZoneInfo:
    try:
        return ZoneInfo(name)
    except (KeyError, ValueError, OSError):
        raise ValueError("The time zone is unknown. Write a name such as Europe/Berlin.") from None


def _instant(text: str) -> int:
    """ms since 1970."""
    try:
        at = datetime.fromisoformat(text)
        if at.tzinfo is not None:
            return ms(at)
    except (ValueError, OverflowError):
        pass
    raise ValueError("A time with a UTC offset is expected, such as 2026-12-01T22:00:00Z.")


def _end(text: str, info: ValidationInfo) -> int:
    end_ms = _instant(text)
    if end_ms <= info.data.get("start", end_ms - 1):
        raise ValueError("The end must be later than the start.")
    return end_ms


def _address(text: str) -> str:
    try:
        its = MailAddress(addr_spec=text)
    except (HeaderParseError, ValueError, IndexError, AttributeError):  # the parser's own, as for "a@["
        its = MailAddress()
    if not its.username or not its.domain or not text.isascii():
        raise ValueError("An e-mail address is expected, such as oncall@example.com.")
    return text


def _printable(name: str) -> str:
    if not name.isprintable():
        raise _sentence("A name must not contain control characters or line breaks.")
    return name


def _re2(text: str) -> str | None:
    return re2_pattern(text, "pattern")


Text = Annotated[str, Field(min_length=1, max_length=1000)]
Pattern = Annotated[str | None, _parsed(_re2)]
Secret = Annotated[str, _parsed(resolved)]
SecretUrl = Annotated[str, _parsed(_secret_url)]
UrlTemplate = Annotated[NoticeTemplate, _parsed_beside(_url_template)]
HeaderName = Annotated[str, _parsed(_header_name)]
HeaderValue = Annotated[str, _parsed(_header)]
Headers = dict[HeaderName, HeaderValue]
SlackTemplate = Annotated[NoticeTemplate, _parsed_beside(partial(_message_template, into=Into.SLACK))]
TextTemplate = Annotated[NoticeTemplate, _parsed_beside(_message_template)]
BodyTemplate = Annotated[NoticeTemplate, _parsed_beside(_body_template)]
Clock = Annotated[time, _parsed(_clock)]
Zone = Annotated[ZoneInfo, _parsed(_zone)]
Address = Annotated[str, _parsed(_address)]
Instant = Annotated[int, _parsed(_instant)]
End = Annotated[int, _parsed_beside(_end)]
Day = Literal["mon", "tue", "wed", "thu", "fri", "sat", "sun"]
Level = Literal["critical", "warning", "info"]
Seconds = Annotated[float, Field(ge=10, le=30 * 86_400)]
Method = Literal["DELETE", "GET", "PATCH", "POST", "PUT"]


class _Section(BaseModel):
    """Its text form has no values: they may be secret."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    def __repr_args__(self) -> Iterable[tuple[str | None, Any]]:
        return ()


class RepeatFile(_Section):
    """Seconds after which an open incident is sent again."""

    critical: Seconds | None = None
    warning: Seconds | None = None
    info: Seconds | None = None


class QuietHoursFile(_Section):
    """When only severe notices are sent."""

    start: Clock
    end: Clock
    time_zone: Zone = Field(default_factory=lambda: ZoneInfo("UTC"))
    days: Annotated[list[Day], Field(min_length=1)] | None = None
    still_sent: Level | None = None


class MaintenanceFile(_Section):
    """When nothing is sent."""

    start: Instant
    end: End
    clusters: list[Text] | None = None
    groups: Pattern = None
    exclude_groups: Pattern = None


class TargetFile(_Section):
    """What all targets have."""

    name: Annotated[str, Field(min_length=1, max_length=80), AfterValidator(_printable)]
    threshold: Level = "warning"
    clusters: list[Text] | None = None
    groups: Pattern = None
    exclude_groups: Pattern = None
    repeat_s: RepeatFile = Field(default_factory=RepeatFile)
    send_close: bool = True
    quiet_hours: list[QuietHoursFile] = Field(default_factory=list)
    timeout_s: Annotated[float, Field(ge=0.1, le=60)] = 10.0
    extras: dict[str, str] = Field(default_factory=dict)


class WebhookFile(TargetFile):
    """Any HTTP endpoint."""

    headers: Headers = Field(default_factory=dict)
    url: UrlTemplate
    close_url: UrlTemplate | None = None
    method: Method = "POST"
    close_method: Method | None = None
    body: BodyTemplate | None = None
    close_body: BodyTemplate | None = None


class SlackFile(TargetFile):
    """An incoming webhook."""

    url: SecretUrl
    text: SlackTemplate | None = None


class PagerDutyFile(TargetFile):
    """The Events API v2."""

    routing_key: Secret
    url: SecretUrl = PAGERDUTY_URL
    summary: TextTemplate | None = None


class AlertmanagerFile(TargetFile):
    """The base address of an Alertmanager; every severity is repeated after `every_s`."""

    url: SecretUrl
    every_s: Annotated[float, Field(ge=10, le=3600)] = 60.0
    labels: dict[Annotated[str, Field(pattern="^[a-zA-Z_][a-zA-Z0-9_]*$")], Text] = Field(default_factory=dict)
    headers: Headers = Field(default_factory=dict)
    summary: TextTemplate | None = None


class EmailFile(TargetFile):
    """An SMTP server and the recipients."""

    host: Text
    port: Annotated[int, Field(ge=1, le=65_535)] = 587
    security: Literal["starttls", "tls", "none"] = "starttls"
    user: Secret | None = None
    password: Secret | None = None
    sender: Address
    to: Annotated[list[Address], Field(min_length=1)]
    subject: TextTemplate | None = None
    text: TextTemplate | None = None

    @model_validator(mode="after")
    def _has_a_whole_login(self) -> Self:
        if (self.user is None) != (self.password is None):
            raise _sentence("A login needs both 'user' and 'password'.")
        return self


class NoticesFile(_Section):
    """The whole file."""

    dashboard: Annotated[str, _parsed(dashboard_url)] | None = None
    state: Text | None = None
    maintenance: list[MaintenanceFile] = Field(default_factory=list)
    webhook: list[WebhookFile] = Field(default_factory=list)
    slack: list[SlackFile] = Field(default_factory=list)
    pagerduty: list[PagerDutyFile] = Field(default_factory=list)
    alertmanager: list[AlertmanagerFile] = Field(default_factory=list)
    email: list[EmailFile] = Field(default_factory=list)
