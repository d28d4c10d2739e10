"""Bearer tokens for SASL OAUTHBEARER: from the client credentials grant (RFC 6749, 4.4), or from a file.

A token is fetched before it is needed and renewed after 80 % of its lifetime, as Kafka's clients do
(`sasl.login.refresh.window.factor`), so the I/O thread never waits for a token.
"""

import base64
import binascii
import http.client
import json
import ssl
import threading
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

from kafka.net.sasl.oauth import AbstractTokenProvider

from lag.cluster.connection.credentials import TokenLogin
from lag.deadline import Deadline, DeadlinePassed, LimitedHttp, LimitedHttps, within
from lag.errors import AddressError, AuthenticationError, CertificateError, ConnectError, ProtocolMismatch

REFRESH_AT = 0.8
DEFAULT_LIFETIME_S = 300.0
EMPTY: Mapping[str, str] = MappingProxyType({})
_MAX_BYTES = 1_000_000
_BAD_FILE = "Put exactly one token into the file."
_BAD_ANSWER = "Check sasl.oauthbearer.token.endpoint.url."


class Token(NamedTuple):
    """A bearer token and its remaining lifetime."""

    text: str
    lifetime_s: float


class TokenProvider(AbstractTokenProvider):
    """The current token of one login. Thread safe; repr does not show the token."""

    def __init__(self, fetch: Callable[[], Token], extensions: Mapping[str, str] = EMPTY) -> None:
        self._fetch = fetch
        self._extensions = extensions
        self._lock = threading.Lock()
        self._token = ""
        self._renew_at_s = 0.0

    def token(self) -> str:
        """The valid token. Raises ConnectError if a new one is due and cannot be fetched."""
        self.renew_when_due()
        return self._token

    def extensions(self) -> dict[str, str]:
        """SASL extensions (RFC 7628) from `extension_…` options."""
        return dict(self._extensions)

    def prepare(self, host: str) -> None:
        """Before a login at this host: a token that is valid at every host. Blocks; raises ConnectError."""
        self.renew_when_due()

    def renew_when_due(self) -> None:
        """Fetch a new token if it is due. Blocks; raises ConnectError."""
        with self._lock:
            if self.due_in_s() <= 0:
                token = self._fetch()
                self._token = token.text
                self._renew_at_s = time.monotonic() + token.lifetime_s * REFRESH_AT

    def due_in_s(self) -> float:
        """Seconds until the next renewal; 0 or less if it is due."""
        return self._renew_at_s - time.monotonic()


def fetch_token(login: TokenLogin, context: ssl.SSLContext, timeout_s: float) -> Token:
    """A new token, after at most that time. Raises ConnectError, which names the endpoint but no secret."""
    url = urllib.parse.urlsplit(login.endpoint)
    if url.scheme == "file":
        return _from_file(urllib.request.url2pathname(url.path))
    where = f"The token endpoint {_public(login.endpoint)}"
    try:
        return within(timeout_s, lambda limit: _from_endpoint(login, context, where, timeout_s, limit))
    except DeadlinePassed:
        raise AddressError(f"{where} gives no token within {timeout_s:g} s", _BAD_ANSWER) from None


def _from_file(path: str) -> Token:
    try:
        with open(path, encoding="ascii") as file:
            text = file.read(_MAX_BYTES).strip()
    except (OSError, UnicodeDecodeError):
        raise AuthenticationError(f"The token file {path} cannot be read", _BAD_FILE) from None
    if not text or len(text.split()) > 1:
        raise AuthenticationError(f"The token file {path} does not hold one token", _BAD_FILE)
    return Token(text, _lifetime_s(text))


def _from_endpoint(login: TokenLogin, context: ssl.SSLContext, where: str, timeout_s: float, limit: Deadline) -> Token:
    opener = urllib.request.build_opener(_NoRedirect, LimitedHttp(limit), LimitedHttps(limit, context))
    try:
        with opener.open(_request(login), timeout=timeout_s) as response:
            answer = json.loads(response.read(_MAX_BYTES))
    except urllib.error.HTTPError as error:
        with error:
            raise _refusal(error.code, where) from None
    except urllib.error.URLError as error:
        raise _unreachable(error.reason, where) from None
    except OSError as error:
        raise _unreachable(error, where) from None
    except (ValueError, http.client.HTTPException):
        raise ProtocolMismatch(f"{where} does not answer with JSON", _BAD_ANSWER) from None
    return _token(answer, where)


def _request(login: TokenLogin) -> urllib.request.Request:
    form = {"grant_type": "client_credentials"} | ({"scope": login.scope} if login.scope else {})
    secret = login.client_secret.get_secret_value() if login.client_secret else ""
    basic = base64.b64encode(f"{login.client_id}:{secret}".encode()).decode()
    return urllib.request.Request(
        login.endpoint,
        data=urllib.parse.urlencode(form).encode(),
        headers={"Authorization": f"Basic {basic}", "Accept": "application/json"},
    )


def _token(answer: Any, where: str) -> Token:
    fields = answer if isinstance(answer, Mapping) else {}
    text = fields.get("access_token") or fields.get("id_token")
    if not isinstance(text, str) or not text.isascii() or not text.isprintable():
        raise ProtocolMismatch(f"{where} answers without an access token", _BAD_ANSWER)
    expires_in = fields.get("expires_in")
    if isinstance(expires_in, int | float) and expires_in > 0:
        return Token(text, float(expires_in))
    return Token(text, _lifetime_s(text))


def _lifetime_s(token: str) -> float:
    """From the `exp` claim (epoch seconds) if the token is a JWT, else DEFAULT_LIFETIME_S."""
    try:
        claims = json.loads(base64.urlsafe_b64decode(token.split(".")[1] + "=="))
        return max(1.0, float(claims["exp"]) - time.time())
    except (IndexError, KeyError, TypeError, ValueError, binascii.Error):
        return DEFAULT_LIFETIME_S


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """A redirect would send the client secret to another address."""

    def redirect_request(self, *_: Any) -> None:
        return None


def _public(url: str) -> str:
    parts = urllib.parse.urlsplit(url)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"


def _refusal(status: int, where: str) -> ConnectError:
    if status in (400, 401, 403):
        return AuthenticationError(
            f"{where} rejects our client id or secret (HTTP {status})", "Check clientId, clientSecret and scope."
        )
    return ProtocolMismatch(f"{where} answers with HTTP {status}", _BAD_ANSWER)


def _unreachable(reason: object, where: str) -> ConnectError:
    if isinstance(reason, ssl.SSLCertVerificationError):
        return CertificateError(
            f"{where} has an untrusted certificate: {reason.verify_message}",
            "Add its CA to ssl.truststore.location.",
        )
    text = (isinstance(reason, OSError) and reason.strerror) or str(reason)
    return AddressError(f"{where} cannot be reached: {text}", _BAD_ANSWER)
