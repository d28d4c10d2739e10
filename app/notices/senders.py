"""Sends a message, within a time limit. Whatever a server does ends in success or in Undelivered, without a secret."""

import contextlib
import smtplib
import socket
import ssl
import urllib.error
import urllib.request
from email.message import EmailMessage
from http.client import HTTPException

from app.notices.deadline import Deadline, LimitedHttp, LimitedHttps, deadline
from app.notices.messages import HttpRequest, MailServer, Undelivered

WHOLE = 4
"""An exchange over HTTP may take this many times `timeout_s`."""
REFUSES_CONTENT = frozenset({400, 413, 414, 422})
"""HTTP: this notice is wrong. Any other failure may be of the target or its address, so the notice is tried again."""
SMTP_REFUSES_CONTENT = frozenset({552, 554})


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """A redirect is an error: it would carry secrets to another address."""

    def redirect_request(self, *_: object) -> None:
        return None


def send_http(request: HttpRequest, timeout_s: float) -> None:
    """Send it, through the proxy of the environment if there is one. The body of the answer is not read.

    `timeout_s` limits the connection and each wait for data, and WHOLE times as long all of it. Raises Undelivered.
    (`requests` would do more than is wanted: it logs addresses, and replaces our Authorization header by a login from
    ~/.netrc.)
    """
    with deadline(WHOLE * timeout_s) as limit:
        try:
            _open(request, timeout_s, limit)
        except Undelivered:
            if not limit.passed:
                raise
    if limit.passed:
        raise Undelivered(f"the answer was not complete within {WHOLE * timeout_s:g} s")


def _open(request: HttpRequest, timeout_s: float, limit: Deadline) -> None:
    try:
        made = urllib.request.Request(request.url, request.body, dict(request.headers), method=request.method)
        made.add_header("User-Agent", "groupscope")
        opener = urllib.request.build_opener(_NoRedirect, LimitedHttp(limit), LimitedHttps(limit))
        with opener.open(made, timeout=timeout_s):
            return
    except urllib.error.HTTPError as error:
        error.close()
        raise Undelivered(f"HTTP {error.code}", is_final=error.code in REFUSES_CONTENT) from None
    except (OSError, HTTPException, ValueError) as error:
        reason = error.reason if isinstance(error, urllib.error.URLError) else error
        raise _undelivered(reason, timeout_s, is_connecting=reason is not error) from None


def _undelivered(reason: object, timeout_s: float, is_connecting: bool = True) -> Undelivered:
    """Its text is ours: those of exceptions may quote the address."""
    if isinstance(reason, TimeoutError):
        return Undelivered(f"no answer within {timeout_s:g} s")
    if isinstance(reason, ConnectionRefusedError):
        return Undelivered("connection refused", never_arrived=is_connecting)
    if isinstance(reason, socket.gaierror):
        return Undelivered("the name of the host cannot be resolved", never_arrived=is_connecting)
    if isinstance(reason, ssl.SSLError):
        return Undelivered("the TLS connection failed: check the certificate")
    if isinstance(reason, ConnectionResetError):  # also without an answer: http.client.RemoteDisconnected
        return Undelivered("the server closed the connection")
    if isinstance(reason, HTTPException):
        return Undelivered("the answer is not HTTP")
    return Undelivered(f"the connection failed ({type(reason).__name__})")


def send_mail(server: MailServer, message: EmailMessage, timeout_s: float) -> None:
    """Send it. `timeout_s` limits the connection and each wait for an answer. Raises Undelivered.

    There is no QUIT: a server that hangs there would have the mail sent twice.
    """
    try:
        with contextlib.closing(_connected(server, timeout_s)) as connection:
            if server.user is not None and server.password is not None:
                connection.login(server.user, server.password)
            connection.send_message(message)
    except smtplib.SMTPAuthenticationError as error:
        raise Undelivered(f"the login was refused (SMTP {error.smtp_code})") from None
    except smtplib.SMTPRecipientsRefused as error:
        codes = {code for code, _ in error.recipients.values()}
        raise Undelivered(f"the recipients were refused (SMTP {min(codes)})") from None
    except smtplib.SMTPResponseException as error:
        if error.smtp_code < 0:
            raise Undelivered("the answer is not SMTP") from None
        raise Undelivered(f"SMTP {error.smtp_code}", is_final=error.smtp_code in SMTP_REFUSES_CONTENT) from None
    except smtplib.SMTPServerDisconnected as error:
        is_late = isinstance(error.__context__, TimeoutError)
        raise Undelivered(
            f"no answer within {timeout_s:g} s" if is_late else "the server closed the connection"
        ) from None
    except smtplib.SMTPNotSupportedError:
        raise Undelivered("the server does not offer STARTTLS or authentication") from None
    except (OSError, ValueError) as error:
        raise _undelivered(error, timeout_s) from None


def _connected(server: MailServer, timeout_s: float) -> smtplib.SMTP:
    """Raises as smtplib does."""
    context = ssl.create_default_context()
    if server.security == "tls":
        return smtplib.SMTP_SSL(server.host, server.port, timeout=timeout_s, context=context)
    connection = smtplib.SMTP(server.host, server.port, timeout=timeout_s)
    try:
        if server.security == "starttls":
            connection.starttls(context=context)
    except BaseException:
        connection.close()
        raise
    return connection
