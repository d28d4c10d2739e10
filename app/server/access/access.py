"""Who makes a request, by what it shows: a token, the headers of a trusted proxy, or the cookie of a login."""

import time
from collections.abc import Callable, Mapping, Sequence
from http import HTTPStatus
from pathlib import Path
from typing import Any, Generic, TypeVar

from app.server.access import tokens
from app.server.access.connection import Connection
from app.server.access.recorder import AccessRecorder
from app.server.access.refusal import Refusal
from app.server.access.roles_file import RolesFile, User, is_name, load_roles, names_in
from app.server.access.session import Session
from app.server.access.visitor import Visitor
from app.server.settings import Settings
from lag.audit.log import AuditLog
from lag.errors import ConfigError
from lag.watched_file import Reading, WatchedFile

File = TypeVar("File")
Claims = Mapping[str, Any]
ReadCookies = Callable[[Mapping[str, str]], Claims | None]
"""The claims of the login whose cookie is among these; None: there is none, or it is not genuine."""

LOGIN_LASTS_S = 12 * 3600
"""After this time a user logs in again, and the provider can say no."""
LEEWAY_S = 300
"""By how much the provider's clock may be ahead."""

CHALLENGE = {"WWW-Authenticate": 'Bearer realm="groupscope"'}
WRONG = {"WWW-Authenticate": 'Bearer realm="groupscope", error="invalid_token"'}
WRONG_TOKEN = Refusal(HTTPStatus.UNAUTHORIZED, "The token is unknown, was revoked or has expired.", WRONG)
NO_PROXY = Refusal(
    HTTPStatus.FORBIDDEN, "The request names a user, but does not come from a trusted proxy (--trusted-proxy)."
)
NO_USER = Refusal(HTTPStatus.BAD_REQUEST, "The header of the proxy does not name one user.")
UNKNOWN = Refusal(HTTPStatus.UNAUTHORIZED, "Log in, or send a token: Authorization: Bearer TOKEN.", CHALLENGE)


class Access:
    """The logins of a server. The files of roles and tokens are read again when they change.

    The constructor raises ConfigError if a file is broken or a setting is missing. `providers` are the names of those
    that browsers can log in with; `read_cookies` is asked with the cookies of a request.
    """

    def __init__(
        self,
        settings: Settings,
        providers: Sequence[str] = (),
        read_cookies: ReadCookies = lambda _cookies: None,
        clock_s: Callable[[], float] = time.time,
        audit: AuditLog | None = None,
    ) -> None:
        check(settings)
        kept = AuditLog() if audit is None else audit
        recorder = AccessRecorder(lambda: kept)
        self.providers = tuple(providers)
        self._settings, self._read_cookies, self._clock_s = settings, read_cookies, clock_s
        self._roles = None if settings.roles is None else _Recorded("roles", settings.roles, load_roles, recorder)
        self._tokens = (
            None if settings.tokens is None else _Recorded("tokens", settings.tokens, tokens.load_tokens, recorder)
        )

    def identify(self, asked: Connection) -> Session | Refusal | None:
        """Who makes the request; a refusal if what it shows is wrong, None if it shows nothing."""
        proxied = self._by_proxy(asked)
        if isinstance(proxied, Refusal):  # with a token too: who forges a user is not answered
            return proxied
        return self._by_token(asked) or proxied or self._by_login(asked)

    def visitor(self, session: Session) -> Visitor:
        """What the owner of the session may see and do now. Without grants: nothing, or the session has ended."""
        if session.ends_s is not None and self._clock_s() >= session.ends_s:
            return Visitor(session.name, session.address)
        if session.token_id is None:
            grants = self._roles_file().grants_of(User(session.name, session.member_of))
        else:
            grants = tuple(token.grant for token in self._token_list() if token.id == session.token_id)
        return Visitor(session.name, session.address, grants)

    def has_changed(self) -> bool:
        """Whether a file has changed, so that whoever asks next reads it."""
        return any(file.has_changed() for file in (self._roles, self._tokens) if file is not None)

    def problems(self) -> list[ConfigError]:
        """What is wrong with the files; what they said before stays in force."""
        files = [file.read().problem for file in (self._roles, self._tokens) if file is not None]
        return [problem for problem in files if problem is not None]

    def _by_token(self, asked: Connection) -> Session | Refusal | None:
        scheme, _, shown = asked.headers.get("authorization", "").partition(" ")
        if scheme.lower() != "bearer":
            return None
        now_ms = round(self._clock_s() * 1000)
        token = tokens.find(self._token_list(), shown.strip(), now_ms)
        if token is None:
            return WRONG_TOKEN
        ends_s = None if token.expires_ms is None else token.expires_ms / 1000
        return Session(f"token {token.name}", asked.address, token_id=token.id, ends_s=ends_s)

    def _by_proxy(self, asked: Connection) -> Session | Refusal | None:
        if self._settings.trust_header is None:
            return None
        names = asked.headers.getlist(self._settings.trust_header)
        if not names:
            return None
        if not asked.is_from_proxy:
            return NO_PROXY
        name = _text(names[0]).strip()
        if len(names) != 1 or not is_name(name):
            return NO_USER
        header = self._settings.trust_groups_header
        listed = [] if header is None else asked.headers.getlist(header)
        groups = (group for each in listed for group in names_in(_text(each)))
        return Session(name, asked.address, tuple(groups))

    def _by_login(self, asked: Connection) -> Session | None:
        return self.session_of(asked.cookies, asked.address)

    def session_of(self, cookies: Mapping[str, str], address: str) -> Session | None:
        """The session of the login with these cookies; None: there is none."""
        claims = None if self._settings.login is None else self._read_cookies(cookies)
        return None if claims is None else self._session(claims, address)

    def _session(self, claims: Claims, address: str) -> Session | None:
        """The session that a login with these claims begins; None if it names nobody, or has ended."""
        user, since_s = self._roles_file().user_of(claims), _since_s(claims.get("iat"), self._clock_s())
        if user is None or since_s is None:
            return None
        return Session(user.name, address, user.member_of, ends_s=since_s + LOGIN_LASTS_S)

    def _roles_file(self) -> RolesFile:
        return RolesFile() if self._roles is None else self._roles.read().value

    def _token_list(self) -> tuple[tokens.Token, ...]:
        return () if self._tokens is None else self._tokens.read().value.tokens


def _text(header: str) -> str:
    """The value of a header, which arrives as Latin-1: proxies write UTF-8."""
    try:
        return header.encode("latin-1").decode()
    except UnicodeDecodeError:
        return header


def _since_s(claim: Any, now_s: float) -> float | None:
    """When a login began that has not ended; None for what is no such time, as NaN, the future and milliseconds."""
    is_time = isinstance(claim, int | float) and now_s - LOGIN_LASTS_S < claim <= now_s + LEEWAY_S
    return claim if is_time else None


class _Recorded(Generic[File]):
    """A watched file; that it was read again is recorded."""

    def __init__(self, kind: str, path: Path, load: Callable[[Path], File], recorder: AccessRecorder) -> None:
        self._kind, self._file, self._recorder = kind, WatchedFile(path, load), recorder
        self._last = self._file.read()

    def has_changed(self) -> bool:
        """Whether `read` opens the file."""
        return self._file.has_changed()

    def read(self) -> Reading[File]:
        """What is in force now."""
        now = self._file.read()
        if now is not self._last:
            self._last = now
            self._recorder.file_read(self._kind, now.problem)
        return now


def check(settings: Settings) -> None:
    """Raise ConfigError if the settings of the login do not fit each other."""
    if settings.trust_header is not None and not settings.trusted_proxies:
        raise ConfigError(
            "--trust-header needs to know the proxy: otherwise everybody could name a user",
            "Add --trusted-proxy with its address, for example --trusted-proxy 127.0.0.1",
        )
    if settings.trust_groups_header is not None and settings.trust_header is None:
        raise ConfigError("--trust-groups-header needs --trust-header", "Name the header with the user too")
    if (settings.login is not None or settings.trust_header is not None) and settings.roles is None:
        raise ConfigError(
            "A login needs a roles file: without one, nobody may see anything",
            "Add --roles FILE; docs/access.md has an example",
        )
