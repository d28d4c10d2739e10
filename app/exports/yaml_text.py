"""YAML as people write it: expressions of several lines as blocks, long lines unbroken."""

from collections.abc import Mapping
from typing import Any

import yaml

_UNBROKEN = 1_000_000


class _Dumper(yaml.SafeDumper):
    """Strings of several lines are blocks, and what occurs twice is written twice."""

    def ignore_aliases(self, data: Any) -> bool:
        return True


def _string(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style="|" if "\n" in text else None)


_Dumper.add_representer(str, _string)


def yaml_text(document: Mapping[str, Any]) -> str:
    """The document, keys in their order."""
    return yaml.dump(document, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=_UNBROKEN)
