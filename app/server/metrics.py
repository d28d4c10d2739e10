"""`/metrics`: the latest snapshots for Prometheus. A scrape never reaches Kafka."""

import time

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response, StreamingResponse

from app.metrics.options import InvalidOption
from app.metrics.scrape import scrape
from app.metrics.text_format import negotiate
from app.metrics.view import Polled
from app.server import source


def metrics(request: Request) -> Response:
    """The metrics that the query asks for; 400 with the parameter's name for one that is wrong."""
    present, now_ms = source.current(), time.time_ns() // 1_000_000
    polled = [_polled(name, feed, now_ms) for name, feed in present.feeds.items()]
    form = negotiate(request.headers.get("accept", ""))
    try:
        options = present.settings.metrics.with_query(request.query_params.multi_items())
        text = scrape(polled, options, form)
    except InvalidOption as error:
        return PlainTextResponse(f"{error}\n", status_code=400)
    return StreamingResponse(text, media_type=form.content_type)


def _polled(name: str, feed: source.Feed, now_ms: int) -> Polled:
    following = feed.following()
    return Polled(name, feed.latest(), feed.status(), now_ms, None if following is None else following.records)
