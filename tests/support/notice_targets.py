"""Targets of notices on this machine: an HTTP server and an SMTP server that take, refuse, hang or answer garbage."""

import json
import socket
import socketserver
import threading
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from email import message_from_bytes
from email.message import Message
from email.policy import default
from typing import Any

GARBAGE = b"\x00\xff not a protocol \r\n\r\n"
ODD = b"HTTP/1.1 200 Said\r\nno header\r\n: none\r\n\x00: \xff\r\n\r\n"
DRIP_S = 0.05
NEVER_S = 60.0


@dataclass
class Received:
    """One HTTP request."""

    line: str
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


@dataclass
class Listener:
    """Where a server listens, and what it got. `answer`: a status code, "hang", "garbage" or "close", "odd" (200 with
    headers that make no sense), "drip" (200 with a header that does not end), or "drip AUTH", "endless AUTH" (one byte
    after the other, or lines without an end, as the answer to that SMTP command); may be changed."""

    answer: int | str = 200
    got: list[Received] = field(default_factory=list)
    mails: list[Message] = field(default_factory=list)
    commands: list[str] = field(default_factory=list)
    port: int = 0
    released: threading.Event = field(default_factory=threading.Event)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def documents(self) -> Sequence[Any]:
        """The JSON of what was taken."""
        return [one.json for one in list(self.got)]


class _Handler(socketserver.StreamRequestHandler):
    timeout = NEVER_S

    @property
    def its(self) -> Listener:
        return self.server.listener  # type: ignore[attr-defined,no-any-return]

    def is_spoilt(self) -> bool:
        """Hang or send garbage, if that is asked for."""
        if self.its.answer == "hang":
            self.its.released.wait(NEVER_S)
        elif self.its.answer == "garbage":
            self.wfile.write(GARBAGE)
        elif self.its.answer == "close":
            return True
        elif self.its.answer == "odd":
            self.wfile.write(ODD)
        elif self.its.answer == "drip":
            self.wfile.write(b"HTTP/1.1 200 Said\r\n")
            self.drip(b"x")
        return isinstance(self.its.answer, str)

    def drip(self, part: bytes) -> None:
        """Send it again and again, until the client hangs up."""
        while not self.its.released.wait(DRIP_S):
            self.wfile.write(part)


class _Http(_Handler):
    def handle(self) -> None:
        line = self.rfile.readline().decode().strip()
        headers = {}
        while header := self.rfile.readline().decode().strip():
            name, _, value = header.partition(": ")
            headers[name.lower()] = value
        body = self.rfile.read(int(headers.get("content-length", 0)))
        self.its.got.append(Received(line, headers, body))
        if not self.is_spoilt():
            self.wfile.write(
                f"HTTP/1.1 {self.its.answer} Said\r\nLocation: /elsewhere\r\nContent-Length: 0\r\n\r\n".encode()
            )


class _Smtp(_Handler):
    def handle(self) -> None:
        if " " not in str(self.its.answer) and self.is_spoilt():
            return
        self._spoil("GREETING")
        self.wfile.write(b"220 ready\r\n")
        for line in self.rfile:
            command = line.decode().strip()
            self.its.commands.append(command)
            self.wfile.write(self._answer(command.split()[0].upper()))

    def _spoil(self, verb: str) -> None:
        """Never answer this command, if that is asked for."""
        if self.its.answer == f"drip {verb}":
            self.drip(b"2")
        while self.its.answer == f"endless {verb}":
            self.wfile.write(b"250-here\r\n" * 1000)

    def _answer(self, verb: str) -> bytes:
        self._spoil(verb)
        if verb == "EHLO":
            tls = b"250-STARTTLS\r\n" if str(self.its.answer).endswith("STARTTLS") else b""
            return b"250-here\r\n" + tls + b"250 AUTH PLAIN\r\n"
        if verb == "AUTH":
            return b"235 ok\r\n" if self.its.answer == 200 or isinstance(self.its.answer, str) else b"535 no\r\n"
        if verb == "DATA":
            self.wfile.write(b"354 go on\r\n")
            lines = list(iter(self.rfile.readline, b".\r\n"))
            if self.its.answer == 200:
                self.its.mails.append(message_from_bytes(b"".join(lines), policy=default))
            return b"250 taken\r\n" if self.its.answer == 200 else f"{self.its.answer} no\r\n".encode()
        return b"250 ok\r\n"


class _Server(socketserver.ThreadingTCPServer):
    allow_reuse_address = daemon_threads = True

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that hangs up is no error here."""


@contextmanager
def _serving(handler: type[_Handler], answer: int | str) -> Iterator[Listener]:
    listener = Listener(answer)
    with _Server(("127.0.0.1", 0), handler) as server:
        server.listener = listener  # type: ignore[attr-defined]
        listener.port = server.server_address[1]
        thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
        thread.start()
        try:
            yield listener
        finally:
            listener.released.set()
            server.shutdown()
            thread.join()


def http_server(answer: int | str = 200) -> AbstractContextManager[Listener]:
    """An HTTP server while the block runs."""
    return _serving(_Http, answer)


def smtp_server(answer: int | str = 200) -> AbstractContextManager[Listener]:
    """An SMTP server while the block runs."""
    return _serving(_Smtp, answer)


def closed_port() -> int:
    """A port where nobody listens."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
