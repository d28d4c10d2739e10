"""The settings of the server process, from environment variables (`GROUPSCOPE_*`), checked once.

    GROUPSCOPE_CLUSTERS='[{"name": "prod", "bootstrap_servers": "b1:9092,b2:9092", "config": "/etc/prod.properties"}]'
    GROUPSCOPE_INTERVAL_S=10
    GROUPSCOPE_FOLLOW=true      # read __consumer_offsets to record every rebalance
    GROUPSCOPE_PLUGINS='["yours.module:YourAssignor"]'
    GROUPSCOPE_HISTORY=/var/lib/groupscope
    GROUPSCOPE_POLICY=/etc/groupscope/policy.yaml
    GROUPSCOPE_NOTICES=/etc/groupscope/notices.yaml
    GROUPSCOPE_METRICS_NAMES=own,kafka-exporter
    GROUPSCOPE_MCP=on           # answer the tool calls of agents at /mcp
    GROUPSCOPE_ALLOW_WRITES=on  # allow the pages to change committed offsets
    GROUPSCOPE_UNDO_FOLDER=/var/lib/groupscope/undo
    GROUPSCOPE_ALLOWED_HOSTS=groupscope.example.com,*.corp.example.com

The command line sets these variables from its options before it starts the server. Secrets stay in the properties file
named by `config` and are never read here.
"""

import json
import os
from collections.abc import Callable
from functools import partial
from importlib.util import find_spec
from ipaddress import IPv4Network, IPv6Network
from pathlib import Path
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, field_validator
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict

from app.metrics.options import Granularity, InvalidOption, Options, name_sets, pattern
from lag.errors import ConfigError
from lag.model import INTERNAL_GROUP_PREFIX
from lag.reset.files.undo_files import undo_folder

PREFIX = "GROUPSCOPE_"
DEFAULTS = Options()
MAX_NAME_LENGTH = 80
EXAMPLES = {
    "clusters": '[{"name": "prod", "bootstrap_servers": "b1:9092"}]',
    "interval_s": "10",
    "follow": "true",
    "plugins": '["yours.module:YourAssignor"]',
    "plugin_memory_mb": "2000",
    "history": "/var/lib/groupscope",
    "policy": "/etc/groupscope/policy.yaml",
    "notices": "/etc/groupscope/notices.yaml",
    "metrics_names": "own,kafka-exporter",
    "metrics_granularity": "topic",
    "metrics_groups": "billing-.*",
    "metrics_exclude_groups": "test-.*",
    "metrics_topics": "orders|payments",
    "metrics_exclude_topics": "__.*",
    "metrics_max_series": "100000",
    "mcp": "off",
    "allow_writes": "off",
    "undo_folder": "/var/lib/groupscope/undo",
    "allowed_hosts": "groupscope.example.com",
    "insecure": "false",
    "login": "/etc/groupscope/secrets.toml",
    "trust_header": "X-Forwarded-User",
    "trust_groups_header": "X-Forwarded-Groups",
    "roles": "/etc/groupscope/roles.yaml",
    "tokens": "/etc/groupscope/tokens.json",
    "audit": "/var/lib/groupscope/audit.jsonl",
    "trusted_proxies": "10.0.0.5,10.1.0.0/16",
}


def _from_json(value: Any) -> Any:
    """Parsed here because the JSON errors of pydantic-settings do not give the field as a location."""
    return json.loads(value) if isinstance(value, str) else value


def _distinct(names: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(names))


def _listed(value: Any) -> Any:
    """The parts between commas."""
    return tuple(part.strip() for part in value.split(",") if part.strip()) if isinstance(value, str) else value


def _option(parse: Callable[[str], object]) -> BeforeValidator:
    """Parses an option of `/metrics` as its query parameter is parsed."""

    def parsed(value: Any) -> Any:
        if not isinstance(value, str):
            return value
        try:
            return parse(value)
        except InvalidOption as error:
            raise ValueError(error.cause) from error

    return BeforeValidator(parsed)


HeaderName = Annotated[str | None, Field(pattern="^[A-Za-z0-9-]{1,100}$")]

Pattern = Annotated[str | None, _option(partial(pattern, option="pattern"))]
"""An RE2 pattern."""


class ClusterSettings(BaseModel):
    """One cluster: its display name, bootstrap servers, and the client's properties file if it needs one.

    `from_environment`: client settings such as GROUPSCOPE_SECURITY_PROTOCOL apply to this cluster.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: Annotated[str, Field(min_length=1, max_length=MAX_NAME_LENGTH)]
    bootstrap_servers: Annotated[str, Field(min_length=1)]
    config: Path | None = None
    from_environment: bool = False


class Settings(BaseSettings):
    """The dashboard's settings; invalid values are rejected when the server starts.

    `plugin_memory_mb` is what a plugin may allocate. `history` is the folder or URL of the Delta tables that the
    collectors write, None for no history. `policy` is the file of thresholds of the verdicts, None for the defaults.
    `notices` is the file that says who is sent notices of verdicts, None for nobody. `metrics_...` is what `/metrics`
    serves by default.
    `mcp`: whether the tool server answers at `/mcp`. `allow_writes`: whether pages may change a cluster; the plans that
    they apply, and how to undo them, are stored in `undo_folder`.

    `allowed_hosts` are the names under which the server answers, besides those that it knows. `insecure`: it answers
    without login on addresses that other machines reach. `login` is a file of Streamlit's secrets whose section `auth`
    names an OpenID Connect provider; `trust_header` and `trust_groups_header` are the headers in which a trusted proxy
    names the user and the user's groups; `roles` says what each user may see and do, `tokens` has the tokens of
    programs. `trusted_proxies` are the networks of the reverse proxies whose X-Forwarded headers count.
    `audit` is the audit log, None: the last events are kept in memory.
    """

    model_config = SettingsConfigDict(env_prefix=PREFIX, env_ignore_empty=True, frozen=True)

    clusters: Annotated[tuple[ClusterSettings, ...], NoDecode, BeforeValidator(_from_json)] = ()
    interval_s: Annotated[float, Field(ge=1, le=3600)] = 10.0
    follow: bool = True
    plugins: Annotated[tuple[str, ...], NoDecode, BeforeValidator(_from_json), AfterValidator(_distinct)] = ()
    plugin_memory_mb: Annotated[int, Field(ge=50, le=1_000_000)] = 2_000
    history: str | None = None
    policy: Path | None = None
    notices: Path | None = None
    metrics_names: Annotated[tuple[str, ...], NoDecode, _option(name_sets)] = DEFAULTS.names
    metrics_granularity: Granularity = DEFAULTS.granularity
    metrics_groups: Pattern = None
    metrics_exclude_groups: Pattern = f"{INTERNAL_GROUP_PREFIX}.*"
    metrics_topics: Pattern = None
    metrics_exclude_topics: Pattern = None
    metrics_max_series: Annotated[int, Field(ge=1, le=10_000_000)] = DEFAULTS.max_series
    mcp: bool = False
    allow_writes: bool = False
    undo_folder: Path = Field(default_factory=partial(undo_folder, os.environ))
    allowed_hosts: Annotated[tuple[str, ...], NoDecode, BeforeValidator(_listed)] = ()
    insecure: bool = False
    login: Path | None = None
    trust_header: HeaderName = None
    trust_groups_header: HeaderName = None
    roles: Path | None = None
    tokens: Path | None = None
    audit: Path | None = None
    trusted_proxies: Annotated[tuple[IPv4Network | IPv6Network, ...], NoDecode, BeforeValidator(_listed)] = ()

    def cluster(self, name: str | None) -> ClusterSettings | None:
        """The settings of a cluster; None for one that has none."""
        return next((each for each in self.clusters if each.name == name), None)

    @field_validator("clusters")
    @classmethod
    def _names_differ(cls, clusters: tuple[ClusterSettings, ...]) -> tuple[ClusterSettings, ...]:
        names = [cluster.name for cluster in clusters]
        if len(set(names)) != len(names):
            raise ValueError(f"cluster names must differ: {', '.join(names)}")
        return clusters

    @field_validator("mcp")
    @classmethod
    def _has_package(cls, wanted: bool) -> bool:
        if wanted and (missing := missing_package()):
            raise ValueError(missing)
        return wanted

    @property
    def has_login(self) -> bool:
        """Whether a request must show who makes it: by a login, a trusted proxy or a token."""
        return self.login is not None or self.trust_header is not None or self.tokens is not None

    @property
    def metrics(self) -> Options:
        """What `/metrics` serves if the query asks for nothing else."""
        return Options(
            names=self.metrics_names,
            granularity=self.metrics_granularity,
            groups=self.metrics_groups,
            exclude_groups=self.metrics_exclude_groups,
            topics=self.metrics_topics,
            exclude_topics=self.metrics_exclude_topics,
            max_series=self.metrics_max_series,
        )


def missing_package() -> str | None:
    """What to install for the tool server; None: its package is there."""
    return None if find_spec("mcp") else "The tool server needs the package mcp: pip install 'groupscope[tools]'"


def read_settings() -> Settings:
    """The settings in the environment. Raises ConfigError, which names every invalid variable but no value."""
    try:
        return Settings()
    except ValidationError as error:
        raise _config_error(error) from None


def _config_error(error: ValidationError) -> ConfigError:
    wrong = error.errors(include_input=False)
    listed = "; ".join(f"{_variable(*e['loc'])}: {e['msg'].removeprefix('Value error, ')}" for e in wrong)
    right = " ".join(f"{_variable(name)}={EXAMPLES[str(name)]}" for name in dict.fromkeys(e["loc"][0] for e in wrong))
    hint = f"For example, set {right}, or unset the variable."
    return ConfigError(f"Invalid settings: {listed}", hint)


def _variable(name: int | str, *inside: int | str) -> str:
    return ".".join([PREFIX + str(name).upper(), *map(str, inside)])
