"""`/metrics`: the latest snapshots for Prometheus. A scrape never reaches Kafka."""

import zlib
from collections.abc import Iterable

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response

from app.metrics.options import InvalidOption
from app.metrics.scrape import scrape
from app.metrics.text_format import negotiate
from app.metrics.view import Polled
from app.server import source
from app.server.feed import Feed
from app.server.middleware.encoding import accepts_gzip
from lag.generations.recorded.model import FollowStatus
from lag.times import wall_clock_ms

GZIP_LEVEL, GZIP_FORMAT = 1, 31


def metrics(request: Request) -> Response:
    """The metrics that the query asks for; 400 with the parameter's name for one that is wrong.

    Starlette calls this in a thread, so that a scrape does not block pages. The whole text is made before the answer
    begins: an error is an answer of its own, and never the end of one that looks complete.
    """
    present, now_ms = source.current(), wall_clock_ms()
    polled = [_polled(name, feed, now_ms) for name, feed in present.feeds.items()]
    form = negotiate(request.headers.get("accept", ""))
    try:
        options = present.settings.metrics.with_query(request.query_params.multi_items())
        text = scrape(polled, options, form)
    except InvalidOption as error:
        return PlainTextResponse(f"{error}\n", status_code=400)
    headers = {"Vary": "Accept, Accept-Encoding"}
    if not accepts_gzip(request.headers.getlist("accept-encoding")):
        return Response("".join(text), headers=headers, media_type=form.content_type)
    return Response(_gzipped(text), headers={**headers, "Content-Encoding": "gzip"}, media_type=form.content_type)


def _polled(name: str, feed: Feed, now_ms: int) -> Polled:
    following = feed.following() or FollowStatus()
    return Polled(name, feed.latest(), feed.status(), now_ms, following.records, following.commits)


def _gzipped(text: Iterable[str]) -> bytes:
    """Compressed here: Streamlit's middleware would do so in the event loop, where pages wait for it."""
    compressor = zlib.compressobj(GZIP_LEVEL, wbits=GZIP_FORMAT)
    return b"".join([*(compressor.compress(part.encode()) for part in text), compressor.flush()])
