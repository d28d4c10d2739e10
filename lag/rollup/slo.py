"""Loads the file of objectives (SLOs); without a file there is a default.

    [[slo]]
    slo_id = "checkout"
    groups = "checkout-*"
    threshold_s = 30
    target = 0.995

TOML; a file that ends in .json holds the same in JSON: {"slo": [{...}]}.
"""

import json
import tomllib
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from lag.errors import ConfigError
from lag.rollup.error_budget import DEFAULT, Slo

ENVIRONMENT = "GROUPSCOPE_SLO"
_HINT = 'Write [[slo]] with slo_id = "...", threshold_s = 60, target = 0.99 and, optionally, groups = "billing-*"'


class _Slo(BaseModel):
    model_config = ConfigDict(extra="forbid")

    slo_id: Annotated[str, Field(min_length=1, max_length=80)]
    threshold_s: Annotated[float, Field(gt=0, le=7200)] = 60.0
    target: Annotated[float, Field(gt=0, lt=1)] = 0.99
    groups: Annotated[str, Field(min_length=1)] = "*"


class _File(BaseModel):
    model_config = ConfigDict(extra="forbid")

    slo: Annotated[tuple[_Slo, ...], Field(min_length=1)]

    @field_validator("slo")
    @classmethod
    def _ids_differ(cls, levels: tuple[_Slo, ...]) -> tuple[_Slo, ...]:
        if len({level.slo_id for level in levels}) < len(levels):
            raise ValueError("two objectives have the same slo_id")
        return levels


def load_slos(path: Path | None) -> tuple[Slo, ...]:
    """The objectives of the file; DEFAULT without a file. Raises ConfigError."""
    if path is None:
        return DEFAULT
    try:
        made = _File.model_validate(_read(path))
    except OSError as error:
        raise ConfigError(f"{path} cannot be read: {error.strerror}", "Name a file of objectives") from None
    except ValidationError as error:
        first = error.errors()[0]
        raise ConfigError(f"{path}: {'.'.join(map(str, first['loc']))}: {first['msg']}", _HINT) from None
    except ValueError as error:
        raise ConfigError(f"{path}: {error}", _HINT) from None
    return tuple(Slo(**level.model_dump()) for level in made.slo)


def _read(path: Path) -> Any:
    text = path.read_text()
    return json.loads(text) if path.suffix == ".json" else tomllib.loads(text)
