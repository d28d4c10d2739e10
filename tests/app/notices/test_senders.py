"""Real servers that take, refuse, hang, answer garbage or are not there: one sentence each, without a secret."""

import logging
import socket
import threading
import time
from contextlib import suppress
from email.message import EmailMessage
from pathlib import Path
from typing import Any

import pytest

from app.notices.messages import HttpRequest, MailServer, Undelivered
from app.notices.senders import send_http, send_mail
from tests.app.notices.made import SECRET
from tests.lag.cluster.connection.certificates import Authority
from tests.lag.cluster.connection.strangers import serve
from tests.support.notice_targets import DRIP_S, closed_port, http_server, smtp_server

TIMEOUT_S = 0.3


def request(url: str) -> HttpRequest:
    return HttpRequest("POST", f"{url}/{SECRET}", b"{}", {"Authorization": f"Bearer {SECRET}"})


def mail() -> EmailMessage:
    made = EmailMessage()
    made["From"], made["To"], made["Subject"] = "g@example.com", "a@example.com", "stopped"
    made.set_content("text")
    return made


def refusal(url: str) -> Undelivered:
    with pytest.raises(Undelivered) as refused:
        send_http(request(url), TIMEOUT_S)
    assert SECRET not in str(refused.value)
    assert refused.value.__context__ is None or refused.value.__suppress_context__
    return refused.value


def test_a_request_arrives_with_our_login_and_not_that_of_netrc(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / ".netrc").write_text("machine 127.0.0.1 login other password other\n")
    monkeypatch.setenv("NETRC", str(tmp_path / ".netrc"))
    with http_server() as server:
        send_http(request(server.url), TIMEOUT_S)
        (got,) = server.got
    assert (got.line, got.body) == (f"POST /{SECRET} HTTP/1.1", b"{}")
    assert got.headers["authorization"] == f"Bearer {SECRET}"


@pytest.mark.parametrize(
    ("code", "is_final"), [(500, False), (503, False), (429, False), (404, False), (302, False), (400, True)]
)
def test_a_refusal_is_named_by_its_code(code: int, is_final: bool) -> None:
    with http_server(code) as server:
        error = refusal(server.url)
        assert len(server.got) == 1
    assert (str(error), error.is_final, error.never_arrived) == (f"HTTP {code}", is_final, False)


@pytest.mark.parametrize(
    ("answer", "stated"),
    [
        ("hang", "no answer within 0.3 s"),
        ("garbage", "the answer is not HTTP"),
        ("close", "the server closed the connection"),
        ("drip", "the answer was not complete within 1.2 s"),
    ],
)
def test_a_server_that_hangs_or_answers_garbage_may_have_taken_it(answer: str, stated: str) -> None:
    with http_server(answer) as server:
        error = refusal(server.url)
    assert (str(error), error.is_final, error.never_arrived) == (stated, False, False)


def test_a_proxy_that_does_not_finish_is_disconnected(monkeypatch: pytest.MonkeyPatch) -> None:
    with http_server("drip") as proxy:
        monkeypatch.setenv("https_proxy", proxy.url)
        assert str(refusal("https://example.test")) == "the answer was not complete within 1.2 s"


def test_a_name_that_is_resolved_too_late_is_sent_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    found, is_over = socket.getaddrinfo, threading.Event()

    def known_late(*its: Any, **rest: Any) -> Any:
        is_over.wait(20)
        return found(*its, **rest)

    with http_server() as server, smtp_server() as mails:
        monkeypatch.setattr(socket, "getaddrinfo", known_late)
        before = set(threading.enumerate())
        assert str(refusal(server.url)) == "the answer was not complete within 1.2 s"
        assert str(mail_refusal(mails.port)) == "the answer was not complete within 1.2 s"
        left_behind = set(threading.enumerate()) - before
        is_over.set()
        for thread in left_behind:
            thread.join(20)
    assert (len(left_behind), [got.line for got in server.got if got.line], mails.commands) == (2, [], [])


def test_a_host_that_is_unknown_was_sent_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    def unknown(*_: object) -> None:
        raise socket.gaierror(-2, f"Name {SECRET} not known")

    monkeypatch.setattr(socket, "getaddrinfo", unknown)
    error = refusal("http://nowhere.example")
    assert (str(error), error.never_arrived) == ("the name of the host cannot be resolved", True)


def test_headers_that_make_no_sense_are_not_logged_with_the_address(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    with http_server("odd") as server:
        send_http(request(server.url), TIMEOUT_S)
    assert SECRET not in caplog.text


def test_where_no_server_listens_nothing_arrives() -> None:
    error = refusal(f"http://127.0.0.1:{closed_port()}")
    assert (str(error), error.never_arrived) == ("connection refused", True)


def test_tls_against_a_server_without_it_fails() -> None:
    with http_server("garbage") as server:
        assert "TLS" in str(refusal(server.url.replace("http:", "https:")))


def mail_refusal(port: int, security: str = "none") -> Undelivered:
    with pytest.raises(Undelivered) as refused:
        send_mail(MailServer("127.0.0.1", port, security, "me", SECRET), mail(), TIMEOUT_S)
    assert SECRET not in str(refused.value)
    return refused.value


def test_a_mail_arrives() -> None:
    with smtp_server() as server:
        send_mail(MailServer("127.0.0.1", server.port, "none", "me", SECRET), mail(), TIMEOUT_S)
        (got,) = server.mails
        assert (got["Subject"], got["To"]) == ("stopped", "a@example.com")
        assert any(command.startswith("AUTH") for command in server.commands)


@pytest.mark.parametrize(
    ("answer", "stated"),
    [
        (451, "SMTP 451"),
        (552, "SMTP 552"),
        ("hang", "no answer within 0.3 s"),
        ("garbage", "the answer is not SMTP"),
    ],
)
def test_a_mail_server_that_refuses_hangs_or_answers_garbage(answer: int | str, stated: str) -> None:
    with smtp_server(answer) as server, pytest.raises(Undelivered) as refused:
        send_mail(MailServer("127.0.0.1", server.port, "none"), mail(), TIMEOUT_S)
    assert (str(refused.value), refused.value.is_final) == (stated, answer == 552)


@pytest.mark.parametrize("command", ["GREETING", "EHLO", "STARTTLS", "AUTH", "MAIL", "DATA"])
@pytest.mark.parametrize(
    ("answer", "stated"),
    [
        ("drip", "the answer was not complete within 1.2 s"),
        ("endless", "the answers of the mail server have more than 100,000 bytes"),
    ],
)
def test_a_mail_server_that_never_ends_an_answer_is_disconnected(answer: str, stated: str, command: str) -> None:
    with smtp_server(f"{answer} {command}") as server:
        error = mail_refusal(server.port, "starttls" if command == "STARTTLS" else "none")
    assert (str(error), error.is_final, error.never_arrived) == (stated, False, False)


@pytest.mark.parametrize("security", ["tls", "starttls"])
def test_a_mail_server_that_drips_through_tls_is_disconnected(
    security: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    authority = Authority()
    context = authority.sign("mail").server_context(tmp_path)

    def drip(client: socket.socket) -> None:
        if security == "starttls":
            client.sendall(b"220 ready\r\n")
            client.recv(1000)
            client.sendall(b"250-here\r\n250 STARTTLS\r\n")
            client.recv(1000)
            client.sendall(b"220 go\r\n")
        with suppress(OSError), context.wrap_socket(client, server_side=True) as secured:
            while True:
                secured.sendall(b"2")
                time.sleep(DRIP_S)

    monkeypatch.setenv("SSL_CERT_FILE", str(authority.pem_file(tmp_path / "ca.pem")))
    with serve(drip) as address:
        assert str(mail_refusal(address.port, security)) == "the answer was not complete within 1.2 s"


def test_a_mail_server_that_refuses_the_login_or_has_no_tls() -> None:
    with smtp_server(535) as server:
        with pytest.raises(Undelivered, match=r"^the login was refused \(SMTP 535\)$"):
            send_mail(MailServer("127.0.0.1", server.port, "none", "me", SECRET), mail(), TIMEOUT_S)
        with pytest.raises(Undelivered, match="does not offer STARTTLS"):
            send_mail(MailServer("127.0.0.1", server.port, "starttls"), mail(), TIMEOUT_S)


def test_a_mail_server_that_is_not_there() -> None:
    with pytest.raises(Undelivered, match="connection refused") as refused:
        send_mail(MailServer("127.0.0.1", closed_port(), "none"), mail(), TIMEOUT_S)
    assert refused.value.never_arrived
