"""Who is logged in, as it is handed from the handshake of a page's WebSocket to the page."""

import json
from base64 import urlsafe_b64decode, urlsafe_b64encode
from dataclasses import asdict, dataclass

CALLBACK = "/oauth2callback"
"""The path to which a provider of OpenID Connect sends a browser back; Streamlit's own."""

HEADER = "x-groupscope-session"
"""Set by this server on the handshake; one that a browser or a proxy sends is removed before."""


@dataclass(frozen=True, slots=True)
class Session:
    """Somebody who has shown who they are: the name, the address, the groups of the login.

    `token_id` is set if it was a token. `ends_s` is in seconds since 1970; None: it ends with the connection.
    """

    name: str
    address: str
    member_of: tuple[str, ...] = ()
    token_id: str | None = None
    ends_s: float | None = None


def encode(session: Session) -> str:
    """The session as the value of a header."""
    return urlsafe_b64encode(json.dumps(asdict(session)).encode()).decode()


def decode(value: str) -> Session:
    """The session that `encode` made a header of."""
    its = json.loads(urlsafe_b64decode(value))
    return Session(**{**its, "member_of": tuple(its["member_of"])})
