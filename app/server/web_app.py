"""The web app: Streamlit with our lifespan, routes and settings.

Streamlit reads `.streamlit/config.toml` from the working directory and from the folder of the script that was started.
That script is our command, so `serve` passes the packaged file: theme and security settings then apply wherever the
command is run.
"""

import logging
import os
import tomllib
from asyncio import CancelledError
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AbstractContextManager, asynccontextmanager, suppress
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

import streamlit as st
from anyio import to_thread
from starlette.middleware import Middleware
from streamlit import config

from app import plugins
from app.server import source, temporary_history
from app.server.access.visitor import Visitor
from app.server.compat.connections import set_up_connections
from app.server.compat.every_click import IN_BROWSER, count_every_click
from app.server.compat.external_address import never_look_up
from app.server.compat.fragment_runs import skip_fragments_of_other_pages
from app.server.compat.import_path import leave_import_path
from app.server.compat.login import session_of_page
from app.server.compat.media_files import retain_media_files
from app.server.compat.page_shell import inline_scripts, page_shell
from app.server.compat.shutdown import graceful_shutdown_timeout, held_until_it_starts
from app.server.listener import Listener
from app.server.middleware.access import AccessMiddleware, base_path
from app.server.middleware.encoding import RefusedGzipMiddleware
from app.server.middleware.headers import content_security_policy
from app.server.opened import opened
from app.server.routes import ROUTES
from app.server.source import Source
from app.server.workers import pool
from assignors.registry import BUILT_IN

log = logging.getLogger(__name__)

APP = Path(__file__).resolve().parents[1]


def build_app(start: Callable[[], AbstractContextManager[Source]]) -> st.App:
    """The web app. Its lifespan enters `start()` for the source of the pages, and exits it at the end."""

    @asynccontextmanager
    async def lifespan(_app: st.App) -> AsyncIterator[None]:
        retain_media_files()
        skip_fragments_of_other_pages()
        leave_import_path()
        count_every_click()
        never_look_up()
        source.install_pages(visitor_of_page)
        async with opened(start()) as its:
            await to_thread.run_sync(import_late, its)
            source.install(its)
            try:
                with graceful_shutdown_timeout():
                    yield
            except CancelledError:  # uvicorn was forced to stop; a traceback would tell the user nothing
                log.info("stopped without waiting for open connections")
            finally:
                source.uninstall()
                await to_thread.run_sync(pool.close)
                await to_thread.run_sync(plugins.close)
                temporary_history.delete_all()

    access = Middleware(AccessMiddleware, policy=_policy)
    app = st.App(
        APP / "main.py", lifespan=lifespan, routes=ROUTES, middleware=[access, Middleware(RefusedGzipMiddleware)]
    )
    for name, value in login_options().items():  # after the app, whose script says where Streamlit's settings are
        config.set_option(name, value)
    return app


def import_late(its: Source) -> None:
    """Import what only some configurations need, before the first request, page or reconnection needs it.

    An import in the middle of a request takes its time, and fails where another thread changes `sys.path`.
    """
    mechanisms = {settings.get("sasl.mechanism") for settings in its.connections.values()}
    for name in (
        "psutil",
        *(reference.partition(":")[0] for reference in BUILT_IN.values()),
        *(_OF_TOOLS if its.settings.mcp else ()),
        *(_OF_HISTORY if its.settings.history is not None else ()),
    ):
        import_module(name)
    for name in (name for mechanism, name in _OF_MECHANISMS.items() if mechanism in mechanisms):
        with suppress(ImportError, OSError):  # an extra: where it is missing, the connection says what to install
            import_module(name)


_OF_TOOLS = ("app.server.tools.protocol", "mcp.server.streamable_http_manager")
_OF_HISTORY = ("lag.generations.recorded.history", "lag.generations.stored_rebalances", "lag.history.queries")
_OF_MECHANISMS = {"AWS_MSK_IAM": "aws_msk_iam_sasl_signer", "GSSAPI": "gssapi"}


@cache
def _policy() -> str:
    """The Content-Security-Policy of the pages."""
    return content_security_policy([*inline_scripts(page_shell(base_path())), *inline_scripts(IN_BROWSER)])


def login_options() -> dict[str, Any]:
    """Streamlit's option that names the file of the login, which it reads before the server starts."""
    file = os.environ.get("GROUPSCOPE_LOGIN")
    return {"secrets.files": [file]} if file else {}


def visitor_of_page() -> Visitor | None:
    """Whose page this thread runs; None: it runs none."""
    access, session = source.installed().access, session_of_page()
    return None if access is None or session is None else access.visitor(session)


def serve(app: st.App, listener: Listener) -> None:
    """Serve until SIGINT or SIGTERM."""
    set_up_connections()
    os.environ["FORWARDED_ALLOW_IPS"] = ""  # otherwise uvicorn believes X-Forwarded-For of every local process
    with held_until_it_starts():
        app.run(config={**packaged_config(), **login_options(), **listener.options()})


def packaged_config() -> dict[str, Any]:
    """The packaged config.toml as dotted options."""
    return dict(_flat(tomllib.loads((APP / ".streamlit" / "config.toml").read_text())))


def _flat(table: Mapping[str, Any], prefix: str = "") -> list[tuple[str, Any]]:
    return [
        pair
        for key, value in table.items()
        for pair in (_flat(value, f"{prefix}{key}.") if isinstance(value, Mapping) else [(f"{prefix}{key}", value)])
    ]
