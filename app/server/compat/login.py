"""Streamlit's login: its secrets, its cookie, and whose page a script runs.

Streamlit reads the cookie only for a page's WebSocket; here it is read for every request.

Checked against Streamlit 1.67.0 (`secrets.files`, `_get_signed_cookie_with_chunks`, `generate_login_redirect_url`).
Unnecessary once Streamlit has a public function for the claims of a request, and one for the address of a login.
"""

import json
import tomllib
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import streamlit as st
from streamlit.user_info import generate_login_redirect_url
from streamlit.web.server.starlette.starlette_server_config import USER_COOKIE_NAME
from streamlit.web.server.starlette.starlette_websocket import _get_signed_cookie_with_chunks

from app.server.access.session import CALLBACK, HEADER, Session, decode
from lag.errors import ConfigError

SHARED = ("redirect_uri", "cookie_secret")
OF_PROVIDER = ("client_id", "client_secret", "server_metadata_url")
DEFAULT = "default"
"""The provider whose keys stand in the section `auth` itself."""

LEAST_SECRET_CHARS = 32
EXAMPLE = "docs/access.md has an example"


def check_login(path: Path) -> Sequence[str]:
    """The names of the providers in the file. Raises ConfigError, which names the keys of what is wrong, no value."""
    if find_spec("authlib") is None or find_spec("httpx") is None:
        raise ConfigError("--login needs the packages authlib and httpx", "pip install 'groupscope[login]'")
    auth = _auth(path)
    names = [DEFAULT] if "client_id" in auth else []
    names += [name for name, its in auth.items() if isinstance(its, Mapping) and "client_id" in its]
    missing = [key for key in SHARED if not auth.get(key)]
    for name in names:
        its = auth if name == DEFAULT else auth[name]
        missing += [key if name == DEFAULT else f"{name}.{key}" for key in OF_PROVIDER if not its.get(key)]
    if not names:
        missing += OF_PROVIDER
    if missing:
        raise ConfigError(f"{path}: [auth] lacks {', '.join(missing)}", EXAMPLE)
    if len(str(auth["cookie_secret"])) < LEAST_SECRET_CHARS:
        hint = "Use for example the output of: openssl rand -base64 32"
        raise ConfigError(f"{path}: auth.cookie_secret has fewer than {LEAST_SECRET_CHARS} characters", hint)
    if not str(auth["redirect_uri"]).endswith(CALLBACK):
        raise ConfigError(f"{path}: auth.redirect_uri does not end with {CALLBACK}", EXAMPLE)
    return names


def _auth(path: Path) -> Mapping[str, Any]:
    try:
        read = tomllib.loads(path.read_text("utf-8-sig"))
    except OSError as error:
        raise ConfigError(f"{path} cannot be read: {error.strerror}", "Name a file with a section [auth]") from None
    except (UnicodeDecodeError, tomllib.TOMLDecodeError):
        raise ConfigError(f"{path} is not TOML", EXAMPLE) from None
    auth = read.get("auth", {})
    return auth if isinstance(auth, Mapping) else {}


def claims_of(cookies: Mapping[str, str]) -> Mapping[str, Any] | None:
    """The claims of the login whose cookie is among these; None: there is none, or its signature is wrong."""
    signed = _get_signed_cookie_with_chunks(dict(cookies), USER_COOKIE_NAME)
    if signed is None:
        return None
    claims = json.loads(signed)
    return claims if isinstance(claims, dict) and claims.get("is_logged_in") is True else None


def login_address(provider: str) -> str:
    """Where the login with that provider begins."""
    return str(generate_login_redirect_url(provider))


def session_of_page() -> Session | None:
    """Whose page this thread runs; None: it runs none, or that of nobody."""
    value = st.context.headers.get(HEADER)
    return None if value is None else decode(value)
