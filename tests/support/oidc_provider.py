"""An OpenID Connect provider on loopback: the authorization code flow with PKCE, as real providers have it.

Its login page lists the users; a click logs in. Tokens are signed with an RSA key made at the start. Authlib has the
keys, signatures and the check of PKCE.
"""

import json
import secrets
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

from authlib.oauth2.rfc7636 import create_s256_code_challenge
from joserfc import jwt
from joserfc.jwk import RSAKey

CLIENT_ID, CLIENT_SECRET = "groupscope", secrets.token_urlsafe(24)
LIFETIME_S = 3600


class Provider:
    """`users` maps names to claims."""

    def __init__(self, users: Mapping[str, Mapping[str, Any]]) -> None:
        self.users, self.key = users, RSAKey.generate_key(2048, {"use": "sig", "kid": "1"}, private=True)
        self.codes: dict[str, tuple[str, dict[str, str]]] = {}
        self.access_tokens: list[str] = []
        self.address = ""

    def metadata(self) -> dict[str, Any]:
        """The discovery document."""
        return {
            "issuer": self.address,
            "authorization_endpoint": f"{self.address}/authorize",
            "token_endpoint": f"{self.address}/token",
            "jwks_uri": f"{self.address}/keys",
            "response_types_supported": ["code"],
            "subject_types_supported": ["public"],
            "id_token_signing_alg_values_supported": ["RS256"],
            "code_challenge_methods_supported": ["S256"],
        }

    def keys(self) -> dict[str, Any]:
        """The public key."""
        return {"keys": [self.key.as_dict(private=False)]}

    def login_page(self, query: Mapping[str, str]) -> str:
        """A link for each user, with the same query."""
        assert query["client_id"] == CLIENT_ID
        links = (f'<li><a href="/choose?{urlencode({**query, "user": name})}">{name}</a></li>' for name in self.users)
        return f"<!doctype html><title>Provider</title><h1>Who are you?</h1><ul>{''.join(links)}</ul>"

    def choose(self, query: dict[str, str]) -> str:
        """Where the browser goes once a user has logged in."""
        code = secrets.token_urlsafe(16)
        self.codes[code] = query.pop("user"), query
        return f"{query['redirect_uri']}?{urlencode({'code': code, 'state': query['state']})}"

    def token(self, form: Mapping[str, str]) -> dict[str, Any]:
        """The tokens for a code, which is valid once."""
        user, asked = self.codes.pop(form["code"])
        assert form["redirect_uri"] == asked["redirect_uri"]
        assert create_s256_code_challenge(form["code_verifier"]) == asked["code_challenge"]
        now_s = int(time.time())
        claims = {
            "iss": self.address,
            "sub": user,
            "aud": CLIENT_ID,
            "iat": now_s,
            "exp": now_s + LIFETIME_S,
            "nonce": asked["nonce"],
            **self.users[user],
        }
        self.access_tokens.append(secrets.token_urlsafe(32))
        return {
            "access_token": self.access_tokens[-1],
            "token_type": "Bearer",
            "expires_in": LIFETIME_S,
            "id_token": jwt.encode({"alg": "RS256", "kid": "1"}, claims, self.key),
        }


def _handler(provider: Provider) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            split = urlsplit(self.path)
            query = {name: values[0] for name, values in parse_qs(split.query).items()}
            if split.path == "/.well-known/openid-configuration":
                self._json(provider.metadata())
            elif split.path == "/keys":
                self._json(provider.keys())
            elif split.path == "/authorize":
                self._answer(200, "text/html", provider.login_page(query).encode())
            elif split.path == "/choose":
                self._answer(302, "text/plain", b"", provider.choose(query))
            else:
                self._answer(404, "text/plain", b"")

        def do_POST(self) -> None:
            sent = self.rfile.read(int(self.headers["Content-Length"])).decode()
            self._json(provider.token({name: values[0] for name, values in parse_qs(sent).items()}))

        def _json(self, document: Mapping[str, Any]) -> None:
            self._answer(200, "application/json", json.dumps(document).encode())

        def _answer(self, status: int, kind: str, body: bytes, location: str | None = None) -> None:
            self.send_response(status)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(body)))
            if location is not None:
                self.send_header("Location", location)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_arguments: Any) -> None:
            pass

    return Handler


@contextmanager
def oidc_provider(users: Mapping[str, Mapping[str, Any]]) -> Iterator[Provider]:
    """A provider with these users; `address` is its issuer."""
    provider = Provider(users)
    with ThreadingHTTPServer(("127.0.0.1", 0), _handler(provider)) as server:
        provider.address = f"http://127.0.0.1:{server.server_port}"
        thread = Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            yield provider
        finally:
            server.shutdown()
            thread.join()
