"""Login through a real OpenID Connect provider: each role sees and may do what its grants say, and nothing else."""

import json
import re
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, WebSocket, expect

from app.views import sweeps
from tests.app import synthetic
from tests.browser.conftest import DESKTOP, PATIENCE_MS, served
from tests.support.chromium import AT_REST
from tests.support.oidc_provider import CLIENT_ID, CLIENT_SECRET, Provider, oidc_provider

pytestmark = pytest.mark.browser

USERS: Mapping[str, Mapping[str, Any]] = {
    "vera": {"email": "vera@example.com", "groups": ["billing-team"]},
    "otto": {"email": "otto@example.com", "groups": ["platform"]},
    "ann": {"email": "ann@example.com"},
    "eve": {"email": "eve@example.com"},
}
ROLES = """\
grants:
  - {role: viewer, members: [billing-team], groups: ["billing-*"]}
  - {role: operator, members: [platform], clusters: ["demo"]}
  - {role: admin, users: [ann@example.com]}
"""
EXAMPLE_FLEET = Path(sweeps.__file__).parent / "example_fleet"
SECRET = "0123456789abcdef0123456789abcdef-cookie"
SEEN, HIDDEN = "billing-settlement", "fraud-scoring-v2"


@dataclass(frozen=True)
class Server:
    url: str
    provider: Provider
    audit: Path


@dataclass
class Visit:
    """A page in a profile of its own, and every byte that the server sent to it over the WebSocket."""

    page: Page
    received: list[bytes] = field(default_factory=list)

    def listen(self, socket: WebSocket) -> None:
        socket.on(
            "framereceived", lambda frame: self.received.append(frame if isinstance(frame, bytes) else frame.encode())
        )

    def was_reported(self, name: str) -> bool:
        return any(name.encode() in frame for frame in self.received)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    folder = tmp_path_factory.mktemp("access")
    login, roles, audit = folder / "secrets.toml", folder / "roles.yaml", folder / "audit.jsonl"
    roles.write_text(ROLES)
    with oidc_provider(USERS) as provider:
        login.write_text(
            f"""[auth]
redirect_uri = "http://127.0.0.1:{{port}}/oauth2callback"
cookie_secret = "{SECRET}"
client_id = "{CLIENT_ID}"
client_secret = "{CLIENT_SECRET}"
server_metadata_url = "{provider.address}/.well-known/openid-configuration"
"""
        )
        env = {"GROUPSCOPE_LOGIN": str(login), "GROUPSCOPE_ROLES": str(roles), "GROUPSCOPE_AUDIT": str(audit)}
        with served(env=env) as url:
            yield Server(url, provider, audit)


@pytest.fixture
def contexts(chromium: Browser) -> Iterator[list[BrowserContext]]:
    opened: list[BrowserContext] = []
    yield opened
    for context in opened:
        context.close()


def visit(chromium: Browser, contexts: list[BrowserContext], url: str) -> Visit:
    context = chromium.new_context(viewport=DESKTOP, timezone_id="Europe/Berlin")
    context.set_default_timeout(PATIENCE_MS)
    contexts.append(context)
    its = Visit(context.new_page())
    its.page.on("websocket", its.listen)
    its.page.goto(url)
    return its


def log_in(chromium: Browser, contexts: list[BrowserContext], server: Server, user: str, path: str = "/") -> Visit:
    its = visit(chromium, contexts, server.url + path)
    its.page.get_by_role("link", name="Log in").click()
    its.page.get_by_role("link", name=user, exact=True).click()
    its.page.wait_for_url(re.compile(re.escape(server.url)))
    return its


def test_a_viewer_returns_to_the_page_of_the_link_and_sees_only_permitted_groups(
    chromium: Browser, contexts: list[BrowserContext], server: Server
) -> None:
    its = log_in(chromium, contexts, server, "vera", f"/group?group={SEEN}")
    expect(its.page).to_have_url(f"{server.url}/group?group={SEEN}")
    expect(its.page.locator("h1")).to_contain_text("settle-7c9f-0 has not committed partitions 7 to 9")
    bundled = {file.stem for file in EXAMPLE_FLEET.glob("*.yaml")}  # the page Sweeps shows its result to everybody
    others = [
        name for name in {spec.group_id for spec in synthetic.specs()} - bundled if not name.startswith("billing-")
    ]
    for path in ("/", "/topics", "/generations", "/history", "/whatif", "/sweeps", "/about"):
        its.page.goto(server.url + path)
        its.page.locator("h1").first.wait_for()
        its.page.locator(AT_REST).wait_for()
    assert its.was_reported(SEEN)
    assert [name for name in others if its.was_reported(name)] == []


def test_a_link_to_a_group_that_may_not_be_seen_says_what_one_to_no_group_says(
    chromium: Browser, contexts: list[BrowserContext], server: Server
) -> None:
    its, reported = log_in(chromium, contexts, server, "vera"), []
    for name in (HIDDEN, "no-such-group"):
        its.page.goto(f"{server.url}/group?group={name}")
        expect(its.page.locator("h1")).to_contain_text(name)
        its.page.locator(AT_REST).wait_for()
        text = its.page.locator('[data-testid="stMain"]').inner_text().replace(name, "…")
        reported.append(re.sub(r"\d+ s ago", "… s ago", text))
    assert reported[0] == reported[1]


def test_an_operator_sees_all_groups_and_the_demo_and_no_audit_log(
    chromium: Browser, contexts: list[BrowserContext], server: Server
) -> None:
    its = log_in(chromium, contexts, server, "otto")
    expect(its.page.locator("h1")).to_contain_text("8 of 30 groups need attention")
    its.page.goto(f"{server.url}/demo")
    expect(its.page.locator("h1").first).to_be_visible()
    its.page.goto(f"{server.url}/about")
    expect(its.page.get_by_text("Logged in as otto@example.com, operator")).to_be_visible()
    its.page.goto(f"{server.url}/audit")
    expect(its.page.get_by_text("Page not found")).to_be_visible()
    its.page.locator(AT_REST).wait_for()
    assert not its.was_reported("was reloaded")


def test_an_admin_reads_the_audit_log_and_logs_out(
    chromium: Browser, contexts: list[BrowserContext], server: Server
) -> None:
    its = log_in(chromium, contexts, server, "ann", "/audit")
    expect(its.page.locator("h1")).to_contain_text("event")
    its.page.locator(AT_REST).wait_for()  # the title comes before the events
    assert its.was_reported("ann@example.com")
    its.page.goto(f"{server.url}/about")
    its.page.get_by_role("button", name="Log out").click()
    expect(its.page.get_by_role("link", name="Log in")).to_be_visible()


def test_a_user_without_role_sees_the_reason_and_no_page(
    chromium: Browser, contexts: list[BrowserContext], server: Server
) -> None:
    its = log_in(chromium, contexts, server, "eve")
    expect(its.page.locator("h1")).to_have_text("No role for eve@example.com")
    assert its.received == []


def test_the_cookie_is_hidden_from_scripts_and_opens_what_it_should(
    chromium: Browser, contexts: list[BrowserContext], server: Server
) -> None:
    its = log_in(chromium, contexts, server, "vera")
    expect(its.page.locator("h1")).to_contain_text("group")
    cookies = {cookie["name"]: cookie for cookie in contexts[-1].cookies()}
    assert cookies["_streamlit_user"]["httpOnly"]
    assert "_streamlit_user=" not in its.page.evaluate("document.cookie")
    answer = contexts[-1].request.get(f"{server.url}/api/v1/clusters/demo/groups?limit=1000&internal=true")
    assert {group["group_id"].partition("-")[0] for group in answer.json()["groups"]} == {"billing"}


def test_no_secret_is_in_the_audit_log(chromium: Browser, contexts: list[BrowserContext], server: Server) -> None:
    log_in(chromium, contexts, server, "vera")
    cookies = [cookie["value"] for cookie in contexts[-1].cookies()]
    query, header, cookie = (f"{place}-secret-4711" for place in ("query", "header", "cookie"))
    for path, headers in (
        (f"/api/v1/clusters?token={query}", {"Authorization": f"Bearer {header}"}),
        (f"/group?code={query}", {"Host": "evil.example", "Cookie": f"a={cookie}"}),
    ):
        with pytest.raises(urllib.error.HTTPError) as refused:
            urllib.request.urlopen(urllib.request.Request(server.url + path, headers=headers))
        refused.value.close()
    written = server.audit.read_text()
    assert {json.loads(line)["action"] for line in written.splitlines()} == {"login", "request"}
    secrets = (SECRET, CLIENT_SECRET, *server.provider.access_tokens, *cookies, query, header, cookie)
    assert [secret for secret in secrets if secret in written] == []
