"""What every answer's headers say to browsers: where content may come from, who may frame it, and how cookies are kept.

Streamlit and Plotly work under the policy: styles are inline, images may be data or blobs (a chart that is saved), and
of inline scripts only those run that are known by their hash.
"""

from base64 import b64encode
from collections.abc import Iterable
from hashlib import sha256

READ_BY_SCRIPTS = "_streamlit_xsrf"
"""Streamlit's page reads this cookie, to send its value beside it."""


def content_security_policy(scripts: Iterable[str]) -> str:
    """The policy under which these inline scripts run."""
    hashes = " ".join(f"'sha256-{b64encode(sha256(script.encode()).digest()).decode()}'" for script in scripts)
    return "; ".join(
        (
            "default-src 'self'",
            f"script-src 'self' {hashes}",
            "style-src 'self' 'unsafe-inline'",
            "img-src 'self' data: blob:",
            "font-src 'self' data:",
            "worker-src 'self' blob:",
            "object-src 'none'",
            "base-uri 'none'",
            "form-action 'self'",
            "frame-ancestors 'none'",
        )
    )


def security_headers(policy: str) -> list[tuple[bytes, bytes]]:
    """The headers of every answer. `policy` is the Content-Security-Policy."""
    return [
        (b"content-security-policy", policy.encode()),
        (b"x-content-type-options", b"nosniff"),
        (b"x-frame-options", b"DENY"),
        (b"referrer-policy", b"same-origin"),
    ]


def guarded_cookie(cookie: str, is_https: bool) -> str:
    """A Set-Cookie header with SameSite, HttpOnly (but for READ_BY_SCRIPTS) and, over https, Secure."""
    given = {part.partition("=")[0].strip().lower() for part in cookie.split(";")[1:]}
    wanted = {
        "samesite": "SameSite=Lax",
        **({} if cookie.startswith(f"{READ_BY_SCRIPTS}=") else {"httponly": "HttpOnly"}),
        **({"secure": "Secure"} if is_https else {}),
    }
    return "; ".join([cookie, *(text for name, text in wanted.items() if name not in given)])
