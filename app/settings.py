"""What the server process was started with, from the environment (`GROUPSCOPE_*`), checked once.

    GROUPSCOPE_CLUSTERS='[{"name": "prod", "bootstrap_servers": "b1:9092,b2:9092", "config": "/etc/prod.properties"}]'
    GROUPSCOPE_INTERVAL_S=10
    GROUPSCOPE_FOLLOW=true      # read __consumer_offsets for every rebalance as it was
    GROUPSCOPE_PLUGINS='["yours.module:YourAssignor"]'
    GROUPSCOPE_HISTORY=/var/lib/groupscope

The command line sets these variables from its flags before it starts the server; secrets stay in the properties file
that `config` names, and are never read here.
"""

from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, field_validator
from pydantic_settings import BaseSettings, SettingsConfigDict

PREFIX = "GROUPSCOPE_"
MOST_LETTERS = 80


class ClusterSettings(BaseModel):
    """One cluster to watch: a name for people, where to begin, and the client's properties file if it needs one.

    `from_environment`: GROUPSCOPE_SECURITY_PROTOCOL and its like are meant for this cluster.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: Annotated[str, Field(min_length=1, max_length=MOST_LETTERS)]
    bootstrap_servers: Annotated[str, Field(min_length=1)]
    config: Path | None = None
    from_environment: bool = False


class Settings(BaseSettings):
    """Everything the dashboard takes from outside; invalid values are refused when the server starts.

    `history` is the folder or URL of the Delta tables that the collectors fill; None: they fill none.
    """

    model_config = SettingsConfigDict(env_prefix=PREFIX, frozen=True)

    clusters: tuple[ClusterSettings, ...] = ()
    interval_s: Annotated[float, Field(ge=1, le=3600)] = 10.0
    follow: bool = True
    plugins: tuple[str, ...] = ()
    history: str | None = None

    @field_validator("clusters")
    @classmethod
    def _names_differ(cls, clusters: tuple[ClusterSettings, ...]) -> tuple[ClusterSettings, ...]:
        names = [cluster.name for cluster in clusters]
        if len(set(names)) != len(names):
            raise ValueError(f"cluster names must differ: {', '.join(names)}")
        return clusters
