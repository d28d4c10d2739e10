"""Tokens for Amazon MSK: signed as AWS documents it, with the credentials that are set, and never shown.

There is no MSK here: what its brokers answer, and whether AWS accepts the signature, is not tested. A real Kafka with
OAUTHBEARER receives the token and refuses it.
"""

import base64
import hashlib
import hmac
import logging
import threading
import urllib.parse
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from lag.cluster.connection import msk
from lag.cluster.connection.connect import open_manager
from lag.cluster.connection.msk import signer
from lag.cluster.connection.msk_login import MskLogin
from lag.cluster.connection.oauth import Token
from lag.cluster.connection.settings import load_settings
from lag.errors import AuthenticationError, ConfigError
from tests.lag.cluster.broker import Listeners
from tests.lag.cluster.connection.strangers import dripping, serve

pytest.importorskip("aws_msk_iam_sasl_signer", reason="the extra msk is not installed: make setup-dev")
REGION, KEY, SECRET = "eu-central-1", "AKIDEXAMPLE", "geheim/42"
ROLE = "arn:aws:iam::123456789012:role/reader"


@pytest.fixture(autouse=True)
def no_aws(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Neither files nor the machine have AWS credentials."""
    for name in ("AWS_PROFILE", "AWS_REGION", "AWS_DEFAULT_REGION", "AWS_SESSION_TOKEN", "AWS_ACCESS_KEY_ID"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "config"))
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(tmp_path / "credentials"))
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")


@pytest.fixture
def keys(monkeypatch: pytest.MonkeyPatch) -> None:
    """The environment has them."""
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", KEY)
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", SECRET)


def query_of(token: Token) -> dict[str, str]:
    """What is signed; the token is the URL in base64url without padding."""
    url = urllib.parse.urlsplit(base64.urlsafe_b64decode(token.text + "=" * (-len(token.text) % 4)).decode())
    assert (url.scheme, url.netloc, url.path) == ("https", f"kafka.{REGION}.amazonaws.com", "/")
    return dict(urllib.parse.parse_qsl(url.query, strict_parsing=True))


def signature(query: dict[str, str], secret: str) -> str:
    """AWS Signature Version 4 of a presigned GET, as its documentation gives it; User-Agent is added afterwards."""
    signed = {name: value for name, value in query.items() if name not in ("X-Amz-Signature", "User-Agent")}
    canonical = "&".join(
        f"{urllib.parse.quote(name, safe='-_.~')}={urllib.parse.quote(signed[name], safe='-_.~')}"
        for name in sorted(signed)
    )
    host = f"host:kafka.{REGION}.amazonaws.com\n"
    request = "\n".join(("GET", "/", canonical, host, "host", hashlib.sha256(b"").hexdigest()))
    scope = query["X-Amz-Credential"].partition("/")[2]
    text = "\n".join(("AWS4-HMAC-SHA256", query["X-Amz-Date"], scope, hashlib.sha256(request.encode()).hexdigest()))
    key = f"AWS4{secret}".encode()
    for part in scope.split("/"):
        key = hmac.digest(key, part.encode(), "sha256")
    return hmac.new(key, text.encode(), "sha256").hexdigest()


class Sts(ThreadingHTTPServer):
    """AWS's Security Token Service on loopback: remembers what it was asked."""

    def __init__(self, status: int) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.status = status
        self.asked: list[dict[str, list[str]]] = []


class _Handler(BaseHTTPRequestHandler):
    server: Sts

    def do_POST(self) -> None:
        form = self.rfile.read(int(self.headers["Content-Length"])).decode()
        self.server.asked.append(urllib.parse.parse_qs(form))
        self.send_response(self.server.status)
        self.send_header("Content-Type", "text/xml")
        self.end_headers()
        self.wfile.write((_ROLE if self.server.status == 200 else _DENIED).encode())

    def log_message(self, format: str, *args: object) -> None:
        return


_NAMESPACE = 'xmlns="https://sts.amazonaws.com/doc/2011-06-15/"'
_ROLE = f"""<AssumeRoleResponse {_NAMESPACE}><AssumeRoleResult><Credentials>
<AccessKeyId>ASIAROLE</AccessKeyId><SecretAccessKey>of-the-role</SecretAccessKey><SessionToken>session</SessionToken>
<Expiration>2099-01-01T00:00:00Z</Expiration></Credentials></AssumeRoleResult></AssumeRoleResponse>"""
_DENIED = f"""<ErrorResponse {_NAMESPACE}><Error><Type>Sender</Type><Code>AccessDenied</Code>
<Message>no</Message></Error></ErrorResponse>"""


@contextmanager
def sts(monkeypatch: pytest.MonkeyPatch, status: int = 200) -> Iterator[Sts]:
    with Sts(status) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        monkeypatch.setenv("AWS_ENDPOINT_URL_STS", f"http://127.0.0.1:{server.server_port}")
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()


@pytest.mark.usefixtures("keys")
class TestToken:
    def test_it_is_a_url_that_is_signed_as_aws_documents_it(self) -> None:
        token = signer(MskLogin(REGION))()
        query = query_of(token)
        assert (query["Action"], query["X-Amz-Expires"]) == ("kafka-cluster:Connect", "900")
        day = query["X-Amz-Date"][:8]
        assert query["X-Amz-Credential"] == f"{KEY}/{day}/{REGION}/kafka-cluster/aws4_request"
        assert query["X-Amz-Signature"] == signature(query, SECRET)
        assert query["User-Agent"].startswith("aws-msk-iam-sasl-signer-python/")
        assert 880 < token.lifetime_s <= 900

    def test_a_profile_has_its_own_keys(self, tmp_path: Path) -> None:
        (tmp_path / "credentials").write_text("[ops]\naws_access_key_id = AKIDOPS\naws_secret_access_key = other\n")
        query = query_of(signer(MskLogin(REGION, "ops"))())
        assert query["X-Amz-Credential"].startswith("AKIDOPS/")
        assert query["X-Amz-Signature"] == signature(query, "other")

    def test_the_keys_of_a_role_come_from_sts(self, monkeypatch: pytest.MonkeyPatch) -> None:
        with sts(monkeypatch) as server:
            query = query_of(signer(MskLogin(REGION, None, ROLE, "me", "42"))())
        assert server.asked[0]["RoleArn"] == [ROLE]
        assert (server.asked[0]["RoleSessionName"], server.asked[0]["ExternalId"]) == (["me"], ["42"])
        assert (query["X-Amz-Credential"].partition("/")[0], query["X-Amz-Security-Token"]) == ("ASIAROLE", "session")
        assert query["X-Amz-Signature"] == signature(query, "of-the-role")

    def test_the_region_may_come_from_awss_configuration(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        (tmp_path / "config").write_text("[default]\nregion = us-east-1\n")
        assert "/us-east-1/" in urllib.parse.unquote(_url(signer(MskLogin(None))()))
        monkeypatch.setenv("AWS_REGION", "us-west-2")
        assert "/us-west-2/" in urllib.parse.unquote(_url(signer(MskLogin(None))()))


def _url(token: Token) -> str:
    return base64.urlsafe_b64decode(token.text + "=" * (-len(token.text) % 4)).decode()


class TestRefusals:
    def test_no_region(self) -> None:
        with pytest.raises(ConfigError, match=r"The AWS region of the cluster is not known\. Set AWS_REGION, or"):
            signer(MskLogin(None))

    def test_no_such_profile(self) -> None:
        with pytest.raises(ConfigError, match="There is no AWS profile 'ops'"):
            signer(MskLogin(REGION, "ops"))

    def test_no_credentials(self) -> None:
        with pytest.raises(AuthenticationError) as caught:
            signer(MskLogin(REGION))()
        assert str(caught.value) == (
            "No token can be signed with the default AWS credentials: Unable to locate credentials. "
            "Check AWS_ACCESS_KEY_ID, the profile or the role of this machine with `aws sts get-caller-identity`."
        )

    @pytest.mark.usefixtures("keys")
    def test_an_answer_of_sts_without_an_end(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(msk, "WITHIN_S", 0.5)
        with serve(dripping) as address:
            monkeypatch.setenv("AWS_ENDPOINT_URL_STS", f"http://{address}")
            sign = signer(MskLogin(REGION, None, ROLE))
            with pytest.raises(AuthenticationError) as caught:
                sign()
        assert str(caught.value) == (
            f"AWS gives no credentials for the AWS role {ROLE} within 0.5 s. "
            "Check with `aws sts get-caller-identity` whether this machine reaches AWS."
        )

    @pytest.mark.usefixtures("keys")
    def test_a_role_that_we_may_not_assume(self, monkeypatch: pytest.MonkeyPatch) -> None:
        with sts(monkeypatch, 403), pytest.raises(AuthenticationError) as caught:
            signer(MskLogin(REGION, None, ROLE))()
        assert str(caught.value) == (
            f"AWS refuses the AWS role {ROLE} (AccessDenied). "
            "Check awsRoleArn, its trust policy and the credentials that assume it."
        )


@pytest.mark.broker
@pytest.mark.usefixtures("keys")
def test_a_broker_that_refuses_the_token_is_named_and_no_secret_is_shown(
    listeners: Listeners, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    caplog.set_level(logging.DEBUG)
    monkeypatch.setenv("AWS_REGION", REGION)
    env = {
        "GROUPSCOPE_SECURITY_PROTOCOL": "SASL_SSL",
        "GROUPSCOPE_SASL_MECHANISM": "AWS_MSK_IAM",
        "GROUPSCOPE_SSL_TRUSTSTORE_LOCATION": str(listeners.ca_file),
    }
    with pytest.raises(AuthenticationError) as caught:
        open_manager(load_settings(listeners["SAFE"], None, env))
    assert str(caught.value) == (
        f"{listeners['SAFE']} rejects the token that the default AWS credentials signed. "
        "Allow kafka-cluster:Connect on the cluster in its IAM policy, and check the clock of this machine."
    )
    assert SECRET not in caplog.text
    assert "X-Amz" not in caplog.text
