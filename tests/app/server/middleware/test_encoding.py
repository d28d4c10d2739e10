"""An answer is compressed only for a client that takes gzip."""

import pytest
from starlette.middleware.gzip import GZipMiddleware
from starlette.responses import PlainTextResponse
from starlette.types import Receive, Scope, Send

from app.server.middleware.encoding import RefusedGzipMiddleware
from tests.app.server.asgi_client import Asked, answer


async def plain(scope: Scope, receive: Receive, send: Send) -> None:
    await PlainTextResponse("x" * 5_000)(scope, receive, send)


APP = RefusedGzipMiddleware(GZipMiddleware(plain))


@pytest.mark.parametrize(
    ("accepted", "encoding"),
    [
        ("gzip", "gzip"),
        ("br, gzip;q=0.5", "gzip"),
        ("gzip;q=0", None),
        ("gzip; q=0.00", None),
        ("br;q=1, gzip;q=0", None),
        ("identity", None),
    ],
)
def test_an_answer_is_compressed_for_a_client_that_takes_gzip(accepted: str, encoding: str | None) -> None:
    assert answer(APP, Asked("/", headers={"accept-encoding": accepted})).headers.get("content-encoding") == encoding


def test_an_answer_is_plain_for_a_client_that_names_no_encoding() -> None:
    assert "content-encoding" not in answer(APP, Asked("/")).headers
