"""The offsets of a file: a plan, or the CSV of `kafka-consumer-groups`."""

from pathlib import PurePath

from lag.errors import ConfigError
from lag.reset.asked.specification import Listed
from lag.reset.files.offsets_csv import parse_offsets_csv
from lag.reset.files.plan_file import YAML_ENDINGS, parse_plan
from lag.reset.model import Action
from lag.settings_file import text_of

PLAN_ENDINGS = (".json", *YAML_ENDINGS)


def offsets_file(data: bytes, name: str, group_id: str) -> Listed:
    """The offsets of a plan if the name ends so, else of a CSV. Raises ConfigError, which names the line."""
    path = PurePath(name)
    if path.suffix.lower() not in PLAN_ENDINGS:
        return Listed(parse_offsets_csv(text_of(data, name), group_id, name), path.name)
    rows = parse_plan(data, name).partitions
    found = {row.tp: row.to_offset for row in rows if row.action is Action.SET and row.to_offset is not None}
    if not found:
        raise ConfigError(f"{name} sets no offset", "Name a plan that sets offsets")
    return Listed(found, path.name)
