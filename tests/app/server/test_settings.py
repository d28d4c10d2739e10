"""Invalid environment variables are named in one error before anything starts."""

from pathlib import Path

import pytest

from app.server import asgi
from app.server.settings import read_settings
from lag.errors import ConfigError
from tests.app.cli.commandline import refused

SECRET = "s3cret-Passw0rd"
WRONG = {
    "FOLLOW": (
        "maybe",
        "GROUPSCOPE_FOLLOW: Input should be a valid boolean, unable to interpret input. "
        "For example, set GROUPSCOPE_FOLLOW=true, or unset the variable.",
    ),
    "PLUGINS": (
        "notjson",
        "GROUPSCOPE_PLUGINS: Expecting value: line 1 column 1 (char 0). "
        'For example, set GROUPSCOPE_PLUGINS=["yours.module:YourAssignor"], or unset the variable.',
    ),
    "CLUSTERS": (
        f'[{{"name": "prod", "bootstrap_servers": "b:9092", "sasl.password": "{SECRET}"}}]',
        "GROUPSCOPE_CLUSTERS.0.sasl.password: Extra inputs are not permitted. For example, set "
        'GROUPSCOPE_CLUSTERS=[{"name": "prod", "bootstrap_servers": "b1:9092"}], or unset the variable.',
    ),
}


@pytest.mark.parametrize("name", WRONG)
@pytest.mark.parametrize("command", ["serve --bootstrap-server 127.0.0.1:1", "up"])
def test_invalid_variable_is_rejected_before_anything_starts(command: str, name: str) -> None:
    value, reported = WRONG[name]
    stated = refused(*command.split(), "--port", "0", env={f"GROUPSCOPE_{name}": value})
    assert stated == f"Invalid settings: {reported}"


def test_all_invalid_variables_are_named_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GROUPSCOPE_FOLLOW", "maybe")
    monkeypatch.setenv("GROUPSCOPE_INTERVAL_S", "0.5")
    with pytest.raises(ConfigError) as caught:
        read_settings()
    assert str(caught.value) == (
        "Invalid settings: "
        "GROUPSCOPE_INTERVAL_S: Input should be greater than or equal to 1; "
        "GROUPSCOPE_FOLLOW: Input should be a valid boolean, unable to interpret input. "
        "For example, set GROUPSCOPE_INTERVAL_S=10 GROUPSCOPE_FOLLOW=true, or unset the variable."
    )


def test_server_without_the_command_line_rejects_it_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GROUPSCOPE_FOLLOW", "maybe")
    with pytest.raises(ConfigError, match="GROUPSCOPE_FOLLOW"), asgi.collectors():
        pass


def test_empty_variable_counts_as_not_set(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("CLUSTERS", "FOLLOW", "HISTORY", "INTERVAL_S", "PLUGINS"):
        monkeypatch.setenv(f"GROUPSCOPE_{name}", "")
    settings = read_settings()
    assert (settings.clusters, settings.follow, settings.history, settings.interval_s, settings.plugins) == (
        *((), True, None, 10.0, ()),
    )


def test_settings_are_read_as_they_are_documented(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GROUPSCOPE_CLUSTERS", '[{"name": "prod", "bootstrap_servers": "b1:9092,b2:9092"}]')
    monkeypatch.setenv("GROUPSCOPE_PLUGINS", '["yours.module:YourAssignor"]')
    settings = read_settings()
    assert [(cluster.name, cluster.bootstrap_servers) for cluster in settings.clusters] == [("prod", "b1:9092,b2:9092")]
    assert settings.plugins == ("yours.module:YourAssignor",)


def test_a_plugin_that_is_named_twice_counts_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GROUPSCOPE_PLUGINS", '["a:A", "b:B", "a:A"]')
    assert read_settings().plugins == ("a:A", "b:B")


@pytest.mark.parametrize("command", ["serve --bootstrap-server 127.0.0.1:1", "up"])
def test_a_broken_policy_is_rejected_before_anything_starts(command: str, tmp_path: Path) -> None:
    policy = tmp_path / "policy.yaml"
    policy.write_text("min_sample: 4\n")
    reported = refused(*command.split(), "--port", "0", env={"GROUPSCOPE_POLICY": str(policy)})
    assert reported == f"{policy}: line 1: min_sample: The key 'min_sample' is unknown. Did you mean 'min_samples'?"


@pytest.mark.parametrize("command", ["serve --bootstrap-server 127.0.0.1:1 --interval 5", "up"])
def test_a_policy_is_checked_for_the_interval_of_the_command(command: str, tmp_path: Path) -> None:
    policy = tmp_path / "policy.yaml"
    policy.write_text("min_s: 300\n")
    error = refused(*command.split(), "--port", "0", env={"GROUPSCOPE_POLICY": str(policy)})
    assert error == f"{policy}: line 1: min_s: This must be at most 295: 60 polls are kept, one every 5 s."


def test_the_policy_can_be_named_on_the_command_line(tmp_path: Path) -> None:
    named = ("--policy", str(tmp_path / "none.yaml"))
    reported = refused("serve", "--bootstrap-server", "127.0.0.1:1", "--port", "0", *named)
    assert reported == f"{tmp_path}/none.yaml cannot be read: No such file or directory. Name a policy file"
