"""Sends a message, within a time limit. Whatever a server does ends in success or in Undelivered, without a secret."""

import contextlib
import smtplib
import socket
import ssl
import urllib.error
import urllib.request
from collections.abc import Callable
from email.message import EmailMessage
from functools import partial
from http.client import HTTPException
from typing import Any, BinaryIO

from app.notices.messages import HttpRequest, MailServer, Undelivered
from lag.deadline import Deadline, DeadlinePassed, Limited, LimitedHttp, LimitedHttps, limited, within

WHOLE = 4
"""A whole exchange may take this many times `timeout_s`."""
MOST_SMTP_BYTES = 100_000
"""Of all answers of a mail server, before STARTTLS and after it."""
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
    _whole(timeout_s, partial(_open, request, timeout_s))


def _whole(timeout_s: float, exchange: Callable[[Deadline], None]) -> None:
    try:
        within(WHOLE * timeout_s, exchange)
    except DeadlinePassed:
        raise Undelivered(f"the answer was not complete within {WHOLE * timeout_s:g} s") from None


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
    """Send it. `timeout_s` limits the connection and each wait for data, and WHOLE times as long all of it.

    Raises Undelivered. There is no QUIT: a server that hangs there would have the mail sent twice.
    """
    _whole(timeout_s, partial(_mail, server, message, timeout_s))


def _mail(server: MailServer, message: EmailMessage, timeout_s: float, limit: Deadline) -> None:
    try:
        with contextlib.closing(_connected(server, timeout_s, limit)) as connection:
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
        raise _disconnected(error.__context__, timeout_s) from None
    except smtplib.SMTPNotSupportedError:
        raise Undelivered("the server does not offer STARTTLS or authentication") from None
    except (OSError, ValueError) as error:
        raise _undelivered(error, timeout_s) from None


def _disconnected(reason: object, timeout_s: float) -> Undelivered:
    if isinstance(reason, _TooLong):
        return Undelivered(f"the answers of the mail server have more than {MOST_SMTP_BYTES:,} bytes")
    if isinstance(reason, TimeoutError):
        return Undelivered(f"no answer within {timeout_s:g} s")
    return Undelivered("the server closed the connection")


def _connected(server: MailServer, timeout_s: float, limit: Deadline) -> smtplib.SMTP:
    """Raises as smtplib does."""
    context = ssl.create_default_context()
    connection: smtplib.SMTP
    if server.security == "tls":
        connection = limited(_SmtpOverTls, limit)(server.host, server.port, timeout=timeout_s, context=context)
        return connection
    connection = limited(_Smtp, limit)(server.host, server.port, timeout=timeout_s)
    try:
        if server.security == "starttls":
            connection.starttls(context=context)
    except BaseException:
        connection.close()
        raise
    return connection


class _TooLong(OSError):
    """As an OSError it ends the connection: smtplib itself reads an answer of any number of lines."""


class _Answers:
    """The lines of a mail server, MOST_SMTP_BYTES of them."""

    def __init__(self, lines: BinaryIO) -> None:
        self._lines, self._left = lines, MOST_SMTP_BYTES

    def readline(self, most: int) -> bytes:
        """As a file does."""
        line = self._lines.readline(most)
        self._left -= len(line)
        if self._left < 0:
            raise _TooLong
        return line

    def close(self) -> None:
        """As a file does."""
        self._lines.close()


class _Smtp(Limited, smtplib.SMTP):
    """Reads its answers through _Answers."""

    _answers: _Answers | None = None

    @property
    def file(self) -> Any:
        return self._answers

    @file.setter
    def file(self, opened: Any) -> None:
        self._answers = None if opened is None else _Answers(opened)


class _SmtpOverTls(_Smtp, smtplib.SMTP_SSL):
    """The same over TLS."""
