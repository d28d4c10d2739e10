"""OAUTHBEARER: tokens from a real HTTP(S) endpoint or a file, and a login with them at a real broker."""

import base64
import json
import threading
import time
import urllib.parse
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from lag.cluster.connection.connect import open_manager
from lag.cluster.connection.credentials import TokenLogin, login
from lag.cluster.connection.oauth import Token, TokenProvider, fetch_token
from lag.cluster.connection.settings import Settings, load_settings
from lag.cluster.connection.tls import web_context
from lag.errors import AddressError, AuthenticationError, CertificateError, ConnectError, ProtocolMismatch
from tests.lag.cluster.broker import Listeners
from tests.lag.cluster.connection.certificates import Authority, Signed
from tests.lag.cluster.connection.strangers import dripping, free_port, serve

SECRET = "geheim-42"


class Endpoint(ThreadingHTTPServer):
    """A token endpoint on loopback: remembers what it was asked, answers as it is configured."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.status = 200
        self.answer: object = {"access_token": "the-token", "expires_in": 3600}
        self.asked: list[tuple[str, str]] = []
        self.arrived = threading.Condition()

    def wait_for_requests(self, count: int) -> bool:
        with self.arrived:
            return self.arrived.wait_for(lambda: len(self.asked) >= count, timeout=20)


class _Handler(BaseHTTPRequestHandler):
    server: Endpoint

    def do_POST(self) -> None:
        form = self.rfile.read(int(self.headers["Content-Length"])).decode()
        with self.server.arrived:
            self.server.asked.append((form, self.headers["Authorization"]))
            self.server.arrived.notify_all()
        self.send_response(self.server.status)
        self.send_header("Location", "/elsewhere")
        self.end_headers()
        self.wfile.write(self.server.answer if isinstance(self.server.answer, bytes) else _json(self.server.answer))

    def log_message(self, format: str, *args: object) -> None:
        return


def _json(value: object) -> bytes:
    return json.dumps(value).encode()


@contextmanager
def serving(secured: Signed | None = None, folder: Path | None = None) -> Iterator[Endpoint]:
    with Endpoint() as server:
        if secured is not None and folder is not None:
            server.socket = secured.server_context(folder).wrap_socket(server.socket, server_side=True)
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()


@pytest.fixture
def endpoint() -> Iterator[Endpoint]:
    with serving() as server:
        yield server


def settings(url: str, server: str = "a:1", **keys: object) -> Settings:
    env = {
        "GROUPSCOPE_SECURITY_PROTOCOL": "SASL_SSL",
        "GROUPSCOPE_SASL_MECHANISM": "OAUTHBEARER",
        "GROUPSCOPE_SASL_OAUTHBEARER_TOKEN_ENDPOINT_URL": url,
        "GROUPSCOPE_SASL_OAUTHBEARER_CLIENT_ID": "me",
        "GROUPSCOPE_SASL_OAUTHBEARER_CLIENT_SECRET": SECRET,
        **{f"GROUPSCOPE_{name.upper()}": str(value) for name, value in keys.items()},
    }
    return load_settings(server, None, env)


def fetch(wanted: Settings, timeout_s: float = 10.0) -> Token:
    who = login(wanted)
    assert isinstance(who, TokenLogin)
    return fetch_token(who, web_context(wanted), timeout_s)


def refusal(wanted: Settings, kind: type[ConnectError]) -> str:
    with pytest.raises(ConnectError) as caught:
        fetch(wanted)
    assert type(caught.value) is kind, caught.value
    assert SECRET not in str(caught.value)
    return str(caught.value)


def url_of(server: Endpoint, scheme: str = "http") -> str:
    return f"{scheme}://127.0.0.1:{server.server_port}/token"


def unsecured_jwt(subject: str, lifetime_s: float) -> str:
    """A token that Kafka's validator for development takes: a JWS without a signature."""
    now = time.time()
    parts = [{"alg": "none"}, {"sub": subject, "iat": now, "exp": now + lifetime_s}]
    return ".".join(base64.urlsafe_b64encode(_json(part)).decode().rstrip("=") for part in parts) + "."


class TestToken:
    def test_the_client_credentials_are_sent_as_the_standard_says(self, endpoint: Endpoint) -> None:
        wanted = settings(url_of(endpoint), sasl_oauthbearer_scope="kafka read")
        assert fetch(wanted) == Token("the-token", 3600.0)
        form, authorization = endpoint.asked[0]
        assert urllib.parse.parse_qs(form) == {"grant_type": ["client_credentials"], "scope": ["kafka read"]}
        assert base64.b64decode(authorization.removeprefix("Basic ")).decode() == f"me:{SECRET}"

    def test_the_endpoint_may_be_secured_by_a_ca_of_the_trust_store(self, authority: Authority, tmp_path: Path) -> None:
        with serving(authority.sign("endpoint"), tmp_path) as server:
            url, ca_file = url_of(server, "https"), authority.pem_file(tmp_path / "ca.pem")
            assert fetch(settings(url, ssl_truststore_location=ca_file)).text == "the-token"
            reported = refusal(settings(url), CertificateError)
        assert reported.startswith(f"The token endpoint {url} has an untrusted certificate")

    def test_a_jwt_says_itself_how_long_it_lasts(self, endpoint: Endpoint) -> None:
        endpoint.answer = {"access_token": unsecured_jwt("alice", 1000)}
        assert 990 < fetch(settings(url_of(endpoint))).lifetime_s <= 1000

    def test_a_token_is_read_from_a_file(self, tmp_path: Path) -> None:
        path = tmp_path / "token"
        path.write_text("abc\n")
        assert fetch(settings(path.as_uri())) == Token("abc", 300.0)

    def test_a_token_is_fetched_once_and_again_when_four_fifths_of_its_life_are_over(self, endpoint: Endpoint) -> None:
        wanted = settings(url_of(endpoint))
        who = login(wanted)
        assert isinstance(who, TokenLogin)
        tokens = TokenProvider(partial(fetch_token, who, web_context(wanted), 10.0))
        assert [tokens.token(), tokens.token()] == ["the-token", "the-token"]
        assert len(endpoint.asked) == 1
        assert 2870 < tokens.due_in_s() <= 2880


class TestRefusals:
    def test_a_wrong_secret_is_reported_without_it(self, endpoint: Endpoint) -> None:
        endpoint.status = 401
        assert refusal(settings(url_of(endpoint)), AuthenticationError) == (
            f"The token endpoint {url_of(endpoint)} rejects our client id or secret (HTTP 401). "
            "Check clientId, clientSecret and scope."
        )

    @pytest.mark.parametrize("status", [302, 307, 500])
    def test_a_redirect_or_failure_is_reported_and_not_followed(self, endpoint: Endpoint, status: int) -> None:
        endpoint.status = status
        assert f"answers with HTTP {status}" in refusal(settings(url_of(endpoint)), ProtocolMismatch)
        assert len(endpoint.asked) == 1

    @pytest.mark.parametrize(
        ("answer", "cause"),
        [
            (b"<html>", "does not answer with JSON"),
            (b"\xff\xfe", "does not answer with JSON"),
            ([], "without an access token"),
            ({"access_token": ""}, "without an access token"),
            ({"access_token": "a\u0001b"}, "without an access token"),
        ],
    )
    def test_an_answer_without_a_token_is_reported(self, endpoint: Endpoint, answer: object, cause: str) -> None:
        endpoint.answer = answer
        assert cause in refusal(settings(url_of(endpoint)), ProtocolMismatch)

    def test_an_endpoint_that_is_not_there_is_reported(self) -> None:
        url = f"http://127.0.0.1:{free_port()}/token"
        assert refusal(settings(url), AddressError).startswith(
            f"The token endpoint {url} cannot be reached: Connection"
        )

    def test_an_endpoint_whose_answer_has_no_end_is_disconnected(self) -> None:
        with serve(dripping) as address, pytest.raises(AddressError) as caught:
            fetch(settings(f"http://{address}/token"), timeout_s=0.3)
        assert str(caught.value) == (
            f"The token endpoint http://{address}/token gives no token within 0.3 s. "
            "Check sasl.oauthbearer.token.endpoint.url."
        )

    def test_a_file_without_one_token_is_reported(self, tmp_path: Path) -> None:
        (tmp_path / "two").write_text("a b")
        assert "does not hold one token" in refusal(settings((tmp_path / "two").as_uri()), AuthenticationError)
        assert "cannot be read" in refusal(settings((tmp_path / "none").as_uri()), AuthenticationError)


class TestLogin:
    def test_the_broker_takes_the_token_and_it_is_renewed(self, listeners: Listeners, endpoint: Endpoint) -> None:
        endpoint.answer = {"access_token": unsecured_jwt("alice", 3600), "expires_in": 0.5}
        wanted = settings(url_of(endpoint), listeners["SAFE"], ssl_truststore_location=listeners.ca_file)
        with open_manager(wanted) as connection:
            assert connection.cluster_id is not None
            assert endpoint.wait_for_requests(len(endpoint.asked) + 2)

    def test_a_token_that_the_broker_refuses_is_reported(self, listeners: Listeners, tmp_path: Path) -> None:
        (tmp_path / "token").write_text(unsecured_jwt("alice", -3600))
        uri = (tmp_path / "token").as_uri()
        wanted = settings(uri, listeners["SAFE"], ssl_truststore_location=listeners.ca_file)
        with pytest.raises(AuthenticationError) as caught:
            open_manager(wanted)
        assert str(caught.value).startswith(f"{listeners['SAFE']} rejects our bearer token.")

    def test_an_endpoint_that_refuses_us_is_named_instead_of_the_broker(
        self, listeners: Listeners, endpoint: Endpoint
    ) -> None:
        endpoint.status = 400
        wanted = settings(url_of(endpoint), listeners["SAFE"], ssl_truststore_location=listeners.ca_file)
        with pytest.raises(AuthenticationError) as caught:
            open_manager(wanted)
        assert str(caught.value).startswith(f"The token endpoint {url_of(endpoint)} rejects our client id")
