"""Who makes a request: tokens, headers of a proxy, cookies of a login; and what is answered to whom."""

import json
import threading
from collections.abc import Iterator, Mapping
from dataclasses import replace
from ipaddress import ip_network
from pathlib import Path
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.routing import BaseRoute, Route, WebSocketRoute
from starlette.types import ASGIApp
from starlette.websockets import WebSocket

from app.server import source
from app.server.access import session, tokens
from app.server.access.access import LOGIN_LASTS_S, Access
from app.server.access.visitor import Role
from app.server.api.endpoints import changes
from app.server.middleware.access import AccessMiddleware
from app.server.routes import ROUTES
from app.server.settings import Settings
from lag.audit.event import Outcome
from lag.errors import ConfigError
from tests.app import feeds
from tests.app.server.api.reports import report
from tests.app.server.asgi_client import Asked, answer

NOW_S = 1_795_000_000
PROXY, OTHER = ("10.0.0.5", 40_000), ("10.0.0.6", 40_000)
ROLES = """\
grants:
  - {role: admin, users: [ann]}
  - {role: viewer, members: [team], groups: ["bill*"]}
"""
WHO = "/who"


async def who(request: Any) -> Any:
    from starlette.responses import JSONResponse

    its = source.current().visitor
    assert its is not None
    return JSONResponse([its.name, its.address, [grant.role for grant in its.grants]])


async def page(socket: WebSocket) -> None:
    await socket.accept(headers=[(b"x-session", socket.headers.get(session.HEADER, "").encode())])
    await socket.close()


OWN: list[BaseRoute] = [Route(WHO, who), WebSocketRoute("/_stcore/stream", page), *ROUTES]


class Clock:
    def __init__(self) -> None:
        self.now_s = float(NOW_S)

    def __call__(self) -> float:
        return self.now_s


class Server:
    """A server with a proxy, tokens and a login, whose cookie is the claims as JSON."""

    def __init__(self, folder: Path) -> None:
        self.roles, self.tokens, self.clock = folder / "roles.yaml", folder / "tokens.json", Clock()
        self.roles.write_text(ROLES)
        self.made = tokens.create(
            self.tokens, "grafana", Role.VIEWER, groups=["bill*"], now_ms=NOW_S * 1000, expires_ms=(NOW_S + 60) * 1000
        )
        self.settings = Settings(
            login=folder / "secrets.toml",
            trust_header="X-Forwarded-User",
            trust_groups_header="X-Forwarded-Groups",
            trusted_proxies=(ip_network("10.0.0.5"),),
            roles=self.roles,
            tokens=self.tokens,
        )
        access = Access(self.settings, ["default"], self.claims, self.clock)
        source.install(replace(feeds.source(prod=feeds.HandFeed(report())), settings=self.settings, access=access))
        self.app: ASGIApp = AccessMiddleware(Starlette(routes=OWN), lambda: "default-src 'self'")

    @staticmethod
    def claims(cookies: Mapping[str, str]) -> Mapping[str, Any] | None:
        from urllib.parse import unquote

        return json.loads(unquote(cookies["login"])) if "login" in cookies else None

    def ask(self, path: str = WHO, client: tuple[str, int] = ("127.0.0.1", 50_000), **options: Any) -> Any:
        return answer(self.app, Asked(path, client=client, **options))

    def with_token(self, path: str = WHO, token: str | None = None) -> Any:
        return self.ask(path, headers={"Authorization": f"Bearer {token or self.made.secret}"})

    def with_login(self, path: str = WHO, **claims: Any) -> Any:
        from urllib.parse import quote

        return self.ask(path, headers={"Cookie": f"login={quote(json.dumps({'iat': NOW_S, **claims}))}"})


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    yield Server(tmp_path)
    source.uninstall()


def test_a_token_names_the_program_and_gives_its_grant(server: Server) -> None:
    assert server.with_token().json == ["token grafana", "127.0.0.1", ["viewer"]]


def test_a_token_that_is_wrong_expired_or_revoked_is_refused(server: Server) -> None:
    wrong = server.with_token(token="gs_00000000_" + "a" * 43)
    assert (wrong.status, wrong.json["status"]) == (401, 401)
    assert wrong.headers["www-authenticate"] == 'Bearer realm="groupscope", error="invalid_token"'
    server.clock.now_s += 60
    assert server.with_token().status == 401
    server.clock.now_s -= 60
    assert server.with_token().status == 200
    tokens.revoke(server.tokens, "grafana")
    assert server.with_token().status == 401


@pytest.mark.parametrize("path", ["/metrics", "/api/v1/clusters", "/v3/kafka", "/mcp", "/burrow/admin", "/media/x.csv"])
def test_programs_need_a_token_everywhere_but_for_probes(server: Server, path: str) -> None:
    refused = server.ask(path)
    assert refused.status == 401
    assert refused.headers["content-type"] == "application/problem+json"
    assert refused.headers["www-authenticate"] == 'Bearer realm="groupscope"'


def test_probes_are_open_and_say_nothing_of_clusters(server: Server) -> None:
    assert server.ask("/api/live").json == {"live": True}
    assert set(server.ask("/api/ready").json) == {"ready"}


def test_a_proxy_names_the_user_and_their_groups(server: Server) -> None:
    headers = {"X-Forwarded-User": "bob", "X-Forwarded-Groups": "x, team", "X-Forwarded-For": "1.2.3.4, 192.0.2.7"}
    assert server.ask(client=PROXY, headers=headers).json == ["bob", "192.0.2.7", ["viewer"]]


@pytest.mark.parametrize("client", [OTHER, ("127.0.0.1", 50_000), ("10.0.0.5", 0)])
def test_a_user_named_by_an_untrusted_proxy_is_refused(server: Server, client: tuple[str, int]) -> None:
    """Port 0: uvicorn has taken the address from X-Forwarded-For, so the peer is not known."""
    refused = server.ask(client=client, headers={"X-Forwarded-User": "ann"})
    assert refused.status == 403
    assert "trusted proxy" in refused.json["detail"]


@pytest.mark.parametrize("name", ["a\x1b[31mnn", "a\x85nn", "a" * 1_001, "ann\nann"])
def test_what_cannot_name_a_user_in_the_header_of_a_proxy_is_refused(server: Server, name: str) -> None:
    refused = server.ask(client=PROXY, headers={"X-Forwarded-User": name})
    assert (refused.status, refused.json["detail"]) == (400, "The header of the proxy does not name one user.")


def test_a_proxy_writes_names_as_utf_8(server: Server) -> None:
    """It refuses a user without a role by name."""
    reported = server.ask("/", client=PROXY, headers={"X-Forwarded-User": "Zoë Ä"})
    assert (reported.status, "<code>Zoë Ä</code>" in reported.text) == (403, True)


def test_a_user_named_by_an_untrusted_proxy_is_refused_with_a_token_too(server: Server) -> None:
    headers = {"X-Forwarded-User": "ann", "Authorization": f"Bearer {server.made.secret}"}
    refused = server.ask(client=OTHER, headers=headers)
    assert (refused.status, "trusted proxy" in refused.text) == (403, True)
    assert server.ask(client=PROXY, headers=headers).json == ["token grafana", "10.0.0.5", ["viewer"]]


def test_requests_without_credentials_are_recorded(server: Server) -> None:
    server.ask("/api/v1/clusters", query="secret=1")
    server.ask("/group")
    server.ask("/_stcore/stream", is_websocket=True)
    server.ask("/api/live")
    why = "401 Log in, or send a token: Authorization: Bearer TOKEN."
    recorded = [(e.outcome, e.actor, e.address, e.detail) for e in source.installed().audit.newest_first()]
    assert recorded == [
        (Outcome.REFUSED, None, "127.0.0.1", f"{asked}: {why}")
        for asked in ("WebSocket /_stcore/stream", "GET /group", "GET /api/v1/clusters")
    ]


def test_a_user_without_role_sees_nothing(server: Server) -> None:
    headers = {"X-Forwarded-User": "eve"}
    assert server.ask("/api/v1/clusters", client=PROXY, headers=headers).status == 403
    assert server.ask("/_stcore/stream", client=PROXY, headers=headers, is_websocket=True).status == 403
    reported = server.ask("/", client=PROXY, headers={"X-Forwarded-User": "<eve>"})
    assert (reported.status, "No role for <code>&lt;eve&gt;</code>" in reported.text) == (403, True)


def test_a_login_names_the_user_and_lasts_for_some_hours(server: Server) -> None:
    assert server.with_login(email="ann").json == ["ann", "127.0.0.1", ["admin"]]
    assert server.with_login(email="bob", groups=["team"]).json == ["bob", "127.0.0.1", ["viewer"]]
    assert server.with_login(email="ann", email_verified=False).status == 401
    assert server.with_login(email="ann", email_verified="false").status == 401
    server.clock.now_s += LOGIN_LASTS_S
    assert server.with_login(email="ann").status == 401


@pytest.mark.parametrize(
    "iat", [None, True, str(NOW_S), [NOW_S], {}, float("nan"), float("inf"), NOW_S * 1000, NOW_S + 301, 10**400, -1]
)
def test_a_login_without_a_time_at_which_it_began_has_ended(server: Server, iat: Any) -> None:
    """A session that began at NaN, or in the year 58,850, would never end."""
    assert server.with_login(email="ann", iat=iat).status == 401


def test_the_clock_of_a_provider_may_be_a_little_ahead(server: Server) -> None:
    assert server.with_login(email="ann", iat=NOW_S + 299.5).status == 200


def test_a_page_leads_to_the_login_and_from_there_back(server: Server) -> None:
    reported = server.ask("/group", query="group=a%2Fb&x=<script>")
    assert reported.status == 401
    assert (
        '<a href="/login?next=%2Fgroup%3Fgroup%3Da%252Fb%26x%3D%3Cscript%3E&amp;provider=default">Log in</a>'
        in reported.text
    )
    assert "<script>" not in reported.text


def test_no_page_opens_without_a_session_or_with_a_forged_one(server: Server) -> None:
    stream = "/_stcore/stream"
    forged = {session.HEADER: session.encode(session.Session("ann", ""))}
    assert server.ask(stream, is_websocket=True).status == 401
    assert server.ask(stream, is_websocket=True, headers=forged).status == 401
    assert (
        server.ask(stream, is_websocket=True, client=PROXY, headers={"X-Forwarded-User": "ann", **forged}).status == 101
    )


def test_changed_roles_hold_from_the_next_request_on_and_broken_ones_never(server: Server) -> None:
    assert server.with_login(email="eve").status == 403
    server.roles.write_text(f"{ROLES}  - {{role: operator, users: [eve]}}\n")
    assert server.with_login(email="eve").json[2] == ["operator"]
    server.roles.write_text("grants: [{role: root}]\n")
    assert server.with_login(email="eve").json[2] == ["operator"]
    its = source.installed().access
    assert its is not None
    assert "roles.yaml" in str(its.problems()[0])


@pytest.mark.parametrize(
    ("settings", "reported"),
    [
        ({"trust_header": "X-User", "roles": "r"}, "--trusted-proxy"),
        ({"trust_groups_header": "X-G"}, "needs --trust-header"),
        ({"login": "s"}, "--roles FILE"),
        ({"trust_header": "X-User", "trusted_proxies": "10.0.0.0/8"}, "--roles FILE"),
    ],
)
def test_settings_that_do_not_fit_each_other_are_refused(settings: dict[str, Any], reported: str) -> None:
    with pytest.raises(ConfigError) as refused:
        Access(Settings(**settings))
    assert reported in str(refused.value)


def test_a_session_is_handed_over_as_it_is() -> None:
    its = session.Session("größe", "::1", ("a", "b"), None, 12.5)
    assert session.decode(session.encode(its)) == its


@pytest.mark.parametrize("change", ["token revoked", "token expired", "role taken away", "role changed"])
def test_a_stream_of_events_ends_when_the_grants_change(
    server: Server, monkeypatch: pytest.MonkeyPatch, change: str
) -> None:
    looks = []

    async def look(_seconds: float) -> None:
        looks.append(change)
        if len(looks) != 3:
            return
        match change:
            case "token revoked":
                tokens.revoke(server.tokens, "grafana")
            case "token expired":
                server.clock.now_s += 61
            case "role taken away":
                server.roles.write_text("grants:\n  - {role: admin, users: [ben]}\n")
            case "role changed":
                server.roles.write_text("grants:\n  - {role: viewer, users: [ann]}\n")

    monkeypatch.setattr(changes, "sleep", look)
    stream = "/api/v1/clusters/prod/changes/stream"
    given = server.with_token(stream) if change.startswith("token") else server.with_login(stream, email="ann")
    assert (given.status, given.text) == (200, "retry: 5000\n\n")
    assert len(looks) == 3


def test_a_file_that_has_changed_is_read_beside_the_event_loop(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    readers, problems = list[str](), Access.problems

    def noted(its: Access) -> list[ConfigError]:
        readers.append(threading.current_thread().name)
        return problems(its)

    monkeypatch.setattr(Access, "problems", noted)
    assert server.with_token().status == 200
    assert readers == []
    server.roles.write_text(f"{ROLES}  - {{role: admin, users: [bob]}}\n")
    assert server.with_token().status == 200
    (reader,) = readers
    assert "AnyIO worker thread" in reader
