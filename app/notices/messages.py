"""What goes over the wire: an HTTP request or a mail. Their text forms hide what may be secret."""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class HttpRequest:
    """A request that is ready to be sent. Address, headers and body can hold secrets and stay out of its repr()."""

    method: str
    url: str = field(repr=False)
    body: bytes = field(repr=False)
    headers: Mapping[str, str] = field(repr=False)


@dataclass(frozen=True, slots=True)
class MailServer:
    """An SMTP server. `security`: `starttls`, `tls` or `none`; user and password are None for no login."""

    host: str
    port: int
    security: str = "starttls"
    user: str | None = field(default=None, repr=False)
    password: str | None = field(default=None, repr=False)


class Undelivered(Exception):
    """A notice was not delivered; str() has no secret.

    `is_final`: the target refuses this notice, and would again. `never_arrived`: the target cannot have received it.
    """

    def __init__(self, cause: str, is_final: bool = False, never_arrived: bool = False) -> None:
        super().__init__(cause)
        self.is_final, self.never_arrived = is_final, never_arrived
