"""Streamlit's checks of Host and Origin, which its WebSocket and its own agent API apply.

Checked against Streamlit 1.67.0 (`starlette_websocket.is_host_allowed`, `server_util.is_allowed_origin`). Unnecessary
once Streamlit applies them to the routes of an app, or offers them as public functions.
"""

from streamlit.web.server.server_util import is_allowed_origin
from streamlit.web.server.starlette.starlette_websocket import is_host_allowed


def is_allowed(host: str | None, origin: str | None) -> bool:
    """Whether a request with these headers is for this server, and is not from a web page of somebody else.

    Browsers send an Origin with every POST, programs send none; `server.corsAllowedOrigins` names the allowed ones.
    That stops DNS rebinding, also without `server.allowedHosts`.
    """
    return bool(is_host_allowed(host)) and (origin is None or bool(is_allowed_origin(origin)))
