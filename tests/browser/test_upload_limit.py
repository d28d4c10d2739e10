"""Uploads over HTTP that are larger than a page allows: refused, wherever the client says so, and never kept."""

import http.client
from collections.abc import Iterator, Mapping
from contextlib import closing, suppress
from urllib.parse import urlsplit

import psutil
import pytest
from playwright.sync_api import Request, expect

from app.ui.upload import MOST_UPLOAD_MB
from assignors.scenario import examples
from tests.browser.conftest import Open

MEGABYTE = b"x" * 1024 * 1024
EXAMPLE = "cooperative-hand-over"
MOST_GROWTH_BYTES = 30 * 1024 * 1024


@pytest.fixture
def upload(open_page: Open) -> Request:
    """The request by which the browser has uploaded a scenario to an open page: its address is of that session."""
    page = open_page("/whatif")
    page.get_by_role("radio", name="File").click()
    with page.expect_request(lambda request: request.method == "PUT") as sent:
        page.locator('input[type="file"]').set_input_files(str(examples()[EXAMPLE]))
    expect(page.locator("h1")).to_contain_text("partitions move")
    return sent.value


def put(upload: Request, headers: Mapping[str, str], body: Iterator[bytes]) -> int:
    """The status of the answer to another upload of that session."""
    address = urlsplit(upload.url)
    server = http.client.HTTPConnection(address.hostname or "", address.port, timeout=60)
    server.putrequest("PUT", address.path, skip_accept_encoding=True)
    kept = ("cookie", "x-xsrftoken", "origin")
    for name, value in (upload.all_headers() | dict(headers)).items():
        if name in kept or name in headers:
            server.putheader(name, value)
    server.endheaders()
    with closing(server):
        with suppress(OSError):  # it may answer and close the connection before the end
            for part in body:
                server.send(part)
        return server.getresponse().status


def chunked(count: int) -> Iterator[bytes]:
    """The begin of a form with one file, which then goes on."""
    for part in (b'--b\r\nContent-Disposition: form-data; name="f"; filename="a.yaml"\r\n\r\n', *[MEGABYTE] * count):
        yield b"%x\r\n" % len(part) + part + b"\r\n"
    yield b"0\r\n\r\n"


def test_an_upload_that_says_it_is_too_large_is_refused_unread(upload: Request) -> None:
    headers = {"content-type": "multipart/form-data; boundary=b", "content-length": str((MOST_UPLOAD_MB + 1) << 20)}
    assert put(upload, headers, iter(())) == 413


def test_an_upload_that_does_not_say_so_is_refused_and_not_kept(upload: Request) -> None:
    port = urlsplit(upload.url).port
    (server,) = {
        c.pid for c in psutil.net_connections("tcp") if c.status == "LISTEN" and c.laddr and c.laddr.port == port
    }
    before = psutil.Process(server).memory_info().rss
    headers = {"content-type": "multipart/form-data; boundary=b", "transfer-encoding": "chunked"}
    assert put(upload, headers, chunked(100)) == 413
    assert psutil.Process(server).memory_info().rss - before < MOST_GROWTH_BYTES
