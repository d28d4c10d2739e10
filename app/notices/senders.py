"""Sends a message, within a time limit. Whatever a server does ends in success or in Undelivered, without a secret."""

import contextlib
import smtplib
import socket
import ssl
from email.message import EmailMessage

import requests

from app.notices.messages import HttpRequest, MailServer, Undelivered

REFUSES_CONTENT = frozenset({400, 413, 414, 422})
"""HTTP: this notice is wrong. Any other failure may be of the target or its address, so the notice is tried again."""
SMTP_REFUSES_CONTENT = frozenset({552, 554})

REFUSED = "connection refused"
UNKNOWN_HOST = "the name of the host cannot be resolved"


def send_http(request: HttpRequest, timeout_s: float) -> None:
    """Send it. Redirects are not followed: they would carry secrets to another address.

    `timeout_s` limits the connection and each wait for data. The body of the answer is not read. Raises Undelivered.
    """
    try:
        with requests.Session() as session:
            answer = session.request(
                request.method,
                request.url,
                data=request.body,
                headers=dict(request.headers),
                timeout=timeout_s,
                allow_redirects=False,
                stream=True,
                auth=_unchanged,
            )
            code = answer.status_code
            answer.close()
    except requests.Timeout:
        raise Undelivered(f"no answer within {timeout_s:g} s") from None
    except requests.exceptions.SSLError:
        raise Undelivered("the TLS connection failed: check the certificate") from None
    except requests.exceptions.ProxyError:
        raise Undelivered("the proxy cannot be used") from None
    except requests.ConnectionError as error:
        raise _no_connection(error) from None
    except (requests.RequestException, OSError, ValueError) as error:
        raise Undelivered(f"the request failed ({type(error).__name__})") from None
    if not 200 <= code < 300:
        raise Undelivered(f"HTTP {code}", is_final=code in REFUSES_CONTENT)


def _unchanged(prepared: requests.PreparedRequest) -> requests.PreparedRequest:
    """Without this, `requests` would replace our Authorization header by a login from ~/.netrc."""
    return prepared


def _no_connection(error: requests.ConnectionError) -> Undelivered:
    """urllib3 puts the address into its sentences, which may have a key in it."""
    text = str(error)
    if "Connection refused" in text:
        return Undelivered(REFUSED, never_arrived=True)
    if "Failed to resolve" in text:
        return Undelivered(UNKNOWN_HOST, never_arrived=True)
    return Undelivered("the connection failed, or the answer is not HTTP")


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
    except (smtplib.SMTPServerDisconnected, TimeoutError) as error:
        is_late = isinstance(error, TimeoutError) or isinstance(error.__context__, TimeoutError)
        raise Undelivered(f"no answer within {timeout_s:g} s" if is_late else "the server hung up") from None
    except ssl.SSLError:
        raise Undelivered("the TLS connection failed: check the certificate") from None
    except ConnectionRefusedError:
        raise Undelivered(REFUSED, never_arrived=True) from None
    except socket.gaierror:
        raise Undelivered(UNKNOWN_HOST, never_arrived=True) from None
    except (smtplib.SMTPException, OSError, ValueError) as error:
        raise Undelivered(f"the mail could not be sent ({type(error).__name__})") from None


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
