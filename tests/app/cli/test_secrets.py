"""`groupscope serve` with a secret in every place that takes one, while all goes wrong: none of them comes out."""

import json
import signal
import urllib.error
import urllib.request
from base64 import b64encode
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import pytest

from app.server.access.tokens import create
from app.server.access.visitor import Role
from tests.app.cli.commandline import running
from tests.lag.cluster.connection import strangers
from tests.support.reset_cluster import commits, group_client, make_topic, produce, unique
from tests.support.secure_kafka import SecureKafka
from tests.support.waiting import wait_until

pytestmark = pytest.mark.broker

NAMES = ("jaas", "oauth", "key", "cookie", "client", "path", "header", "smtp", "routing", "wrongtoken", "proxied")
SECRETS = {name: f"s3cret/{name}+Passw0rd-of-32-letters-or-more" for name in NAMES}
PLACES = ["/", "/about", "/metrics?names=all", "/api/ready", "/api/live", "/api/v1/openapi.json", "/v3/kafka"]
API = "/api/v1/clusters"


class Files:
    """The files of a server, with secrets in them, below `given`; what it writes itself is elsewhere."""

    def __init__(self, folder: Path, kafka: SecureKafka) -> None:
        self.folder, self.made = folder / "given", folder / "made"
        self.folder.mkdir()
        self.made.mkdir()
        self.dead = strangers.free_port()
        self.good = self._file("good.properties", f"bootstrap.servers={kafka.bootstrap_servers}")
        self.refused = self._file(
            "refused.properties",
            f"bootstrap.servers={kafka.sasl_ssl_bootstrap_servers}",
            "security.protocol=SASL_SSL",
            "sasl.mechanism=SCRAM-SHA-512",
            f"ssl.truststore.location={kafka.ca_file}",
            "sasl.jaas.config=org.apache.kafka.common.security.scram.ScramLoginModule required"
            f' username="alice" password="{SECRETS["jaas"]}";',
        )
        self.oauth = self._file(
            "oauth.properties",
            f"bootstrap.servers={kafka.sasl_ssl_bootstrap_servers}",
            "security.protocol=SASL_SSL",
            "sasl.mechanism=OAUTHBEARER",
            f"ssl.truststore.location={kafka.ca_file}",
            f"sasl.oauthbearer.token.endpoint.url=http://127.0.0.1:{self.dead}/token",
            "sasl.jaas.config=org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginModule required"
            f' clientId="groupscope" clientSecret="{SECRETS["oauth"]}";',
        )
        self.login = self._file(
            "secrets.toml",
            "[auth]",
            f'redirect_uri = "http://127.0.0.1:{self.dead}/oauth2callback"',
            f'cookie_secret = "{SECRETS["cookie"]}"',
            'client_id = "groupscope"',
            f'client_secret = "{SECRETS["client"]}"',
            f'server_metadata_url = "http://127.0.0.1:{self.dead}/.well-known/openid-configuration"',
        )
        self.roles = self._file("roles.yaml", "grants:", "  - {role: admin, users: [ann]}")
        self.notices = self._file("notices.yaml", *self._targets())
        self.tokens = self.folder / "tokens.json"
        self.token = create(self.tokens, "reader", Role.ADMIN, now_ms=1_795_000_000_000).secret

    def _file(self, name: str, *lines: str) -> Path:
        file = self.folder / name
        file.write_text("\n".join(lines) + "\n")
        return file

    def _targets(self) -> Iterator[str]:
        dead = f"127.0.0.1:{self.dead}"
        yield f"state: {self.made / 'incidents.json'}"
        yield "webhook:"
        yield f"  - {{name: hook, url: 'http://{dead}/{SECRETS['path']}', headers: {{X-Key: '{SECRETS['header']}'}},"
        yield "     threshold: info}"
        yield "pagerduty:"
        yield f"  - {{name: pager, routing_key: '{SECRETS['routing']}'}}"
        yield "email:"
        yield f"  - {{name: mail, host: 127.0.0.1, port: {self.dead}, security: none, sender: a@b.example,"
        yield f"     to: [c@d.example], user: u, password: '{SECRETS['smtp']}', threshold: info}}"

    @property
    def arguments(self) -> list[str]:
        clusters = [f"--cluster={file.stem}={file}" for file in (self.good, self.refused, self.oauth)]
        files = ["--login", self.login, "--roles", self.roles, "--tokens", self.tokens, "--notices", self.notices]
        made = ["--audit", self.made / "audit.jsonl", "--history", self.made / "history"]
        return ["serve", "--json", "--port", "0", "--interval", "1", *clusters, *map(str, [*files, *made])]


@pytest.mark.parametrize("log_format", ["text", "json"])
def test_no_secret_is_in_a_log_answer_or_file(secure_kafka: SecureKafka, tmp_path: Path, log_format: str) -> None:
    files, topic, group = Files(tmp_path, secure_kafka), unique("secret-orders"), unique("secret-billing")
    make_topic(secure_kafka.bootstrap_servers, topic)
    produce(secure_kafka.bootstrap_servers, topic, {0: 10})
    with group_client(secure_kafka.bootstrap_servers) as client:
        client.commit(group, commits(topic, {0: 5}))
    answers: list[str] = []
    with running(tmp_path, *files.arguments, "--log-format", log_format) as command:
        url = command.first_line()["dashboard"]
        for name in ("hook", "mail"):  # a verdict, and a notice of it that cannot be sent
            command.reported(f"target {name}:", within_s=120)
        wait_until(lambda: "refused" in (found := get(url + API, files.token)) and "rejects user" in found)
        for place in (*PLACES, API, f"{API}/good/groups", f"{API}/refused/groups", f"{API}/oauth/groups"):
            answers += [get(url + place, token) for token in (files.token, SECRETS["wrongtoken"], None)]
        answers.append(get(f"{url}/", None, {"X-Forwarded-User": SECRETS["proxied"]}))
        for broken in (files.notices, files.roles):
            broken.write_text(f"{broken.read_text()}\nbroken: [{SECRETS['smtp']}\n")
        command.reported("the notices file is invalid", within_s=60)
        answers.append(get(f"{url}{API}", files.token))
        assert command.ends(signal.SIGINT) == 0
        written = "".join(file.read_bytes().decode("latin-1") for file in files.made.rglob("*") if file.is_file())
        texts = {"log": command.out + command.err, "answers": "".join(answers), "files": written}
    assert {name for name, text in texts.items() if not text} == set()
    secrets = {**SECRETS, "token": files.token, "token's secret": files.token.split("_", 2)[2]}
    assert [(name, where) for name, its in secrets.items() for where in texts if is_in(its, texts[where])] == []


def get(url: str, token: str | None, headers: dict[str, str] | None = None) -> str:
    """The answer with its headers."""
    its = {"Authorization": f"Bearer {token}"} if token else {}
    request = urllib.request.Request(url, headers={**its, **(headers or {})})
    try:
        with urllib.request.urlopen(request, timeout=60) as answer:
            return f"{answer.headers}{answer.read().decode()}"
    except urllib.error.HTTPError as refusal:
        with refusal:
            return f"{refusal.headers}{refusal.read().decode()}"


def is_in(secret: str, text: str) -> bool:
    """As it is, in a URL, in JSON, or in base64 at the begin of a text."""
    forms = {secret, quote(secret, safe=""), json.dumps(secret)[1:-1], b64encode(secret.encode()).decode()[:-4]}
    return any(form in text for form in forms)
