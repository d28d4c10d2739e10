"""The web app: Streamlit with our lifespan, routes and settings.

Streamlit reads `.streamlit/config.toml` from the working directory and from the folder of the script that was started.
That script is our command, so `serve` passes the packaged file: theme and security settings then apply wherever the
command is run.
"""

import logging
import tomllib
from asyncio import CancelledError
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AbstractContextManager, asynccontextmanager
from pathlib import Path
from typing import Any

import streamlit as st
from anyio import to_thread

from app.server import source, temporary_history
from app.server.compat.every_click import count_every_click
from app.server.compat.fragment_runs import skip_fragments_of_other_pages
from app.server.compat.media_files import retain_media_files
from app.server.compat.shutdown import graceful_shutdown_timeout
from app.server.routes import ROUTES
from app.server.source import Source

log = logging.getLogger(__name__)

APP = Path(__file__).resolve().parents[1]


def build_app(start: Callable[[], AbstractContextManager[Source]]) -> st.App:
    """The web app. Its lifespan enters `start()` for the source of the pages, and exits it at the end."""

    @asynccontextmanager
    async def lifespan(_app: st.App) -> AsyncIterator[None]:
        retain_media_files()
        skip_fragments_of_other_pages()
        count_every_click()
        running = start()
        source.install(await to_thread.run_sync(running.__enter__))
        try:
            with graceful_shutdown_timeout():
                yield
        except CancelledError:  # uvicorn was forced to stop; a traceback would tell the user nothing
            log.info("stopped without waiting for open connections")
        finally:
            source.uninstall()
            temporary_history.delete_all()
            await to_thread.run_sync(running.__exit__, None, None, None)

    return st.App(APP / "main.py", lifespan=lifespan, routes=ROUTES)


def serve(app: st.App, port: int, address: str = "127.0.0.1") -> None:
    """Serve until SIGINT or SIGTERM."""
    app.run(config={**packaged_config(), "server.port": port, "server.address": address, "server.headless": True})


def packaged_config() -> dict[str, Any]:
    """The packaged config.toml as dotted options."""
    return dict(_flat(tomllib.loads((APP / ".streamlit" / "config.toml").read_text())))


def _flat(table: Mapping[str, Any], prefix: str = "") -> list[tuple[str, Any]]:
    return [
        pair
        for key, value in table.items()
        for pair in (_flat(value, f"{prefix}{key}.") if isinstance(value, Mapping) else [(f"{prefix}{key}", value)])
    ]
