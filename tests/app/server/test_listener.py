"""Where the server may listen, and the certificate that it shows."""

from pathlib import Path
from typing import Any

import pytest

from app.server.listener import Listener
from app.server.settings import Settings
from lag.errors import ConfigError


@pytest.mark.parametrize("host", ["127.0.0.1", "::1", "localhost"])
def test_on_loopback_no_login_is_needed(host: str) -> None:
    Listener(8501, host).check(Settings())


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "10.0.0.7", "my-host"])
def test_elsewhere_a_login_or_insecure_is_needed(host: str) -> None:
    with pytest.raises(ConfigError) as refused:
        Listener(8501, host).check(Settings())
    assert str(refused.value) == (
        f"--host {host} lets other machines in, and no login is configured. Configure a login (--login FILE or "
        "--trust-header NAME), keep --host 127.0.0.1 behind a proxy, or add --insecure to let everybody in"
    )
    others: list[dict[str, Any]] = [{"insecure": True}, {"tokens": "t"}, {"trust_header": "X-User"}, {"login": "s"}]
    for given in others:
        Listener(8501, host).check(Settings(**given))


def test_writes_without_login_are_refused_where_other_machines_reach_the_server() -> None:
    Listener(8501).check(Settings(allow_writes=True))
    Listener(8501, "0.0.0.0").check(Settings(allow_writes=True, trust_header="X-User"))
    with pytest.raises(ConfigError, match="would let everybody change offsets"):
        Listener(8501, "0.0.0.0").check(Settings(allow_writes=True, insecure=True))


@pytest.mark.parametrize(
    ("listener", "url"),
    [
        (Listener(8501), "http://127.0.0.1:8501"),
        (Listener(8501, "0.0.0.0"), "http://localhost:8501"),
        (Listener(8501, "::1"), "http://[::1]:8501"),
        (Listener(8501, "lag.example", Path("c"), Path("k")), "https://lag.example:8501"),
    ],
)
def test_the_address_for_a_browser(listener: Listener, url: str) -> None:
    assert listener.url == url


def test_a_certificate_needs_its_key(tmp_path: Path) -> None:
    (tmp_path / "c.pem").write_text("no certificate")
    cases: list[tuple[dict[str, Any], str]] = [
        ({"tls_cert": tmp_path / "c.pem"}, "needs both"),
        ({"tls_key": tmp_path / "c.pem"}, "needs both"),
        ({"tls_cert": tmp_path / "c.pem", "tls_key": tmp_path / "c.pem"}, "cannot be used"),
        ({"tls_cert": tmp_path / "none.pem", "tls_key": tmp_path / "c.pem"}, "No such file or directory"),
    ]
    for given, reported in cases:
        with pytest.raises(ConfigError, match=reported):
            Listener(8501, **given).check(Settings())
