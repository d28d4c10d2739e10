"""The page about metrics has a line for each one, as the code has it."""

import re
from pathlib import Path

import pytest

from app.metrics.family import NEVER_UNKNOWN, Family, PollingFamily
from app.metrics.options import NAME_SETS
from app.metrics.scrape import LEFT_OUT, LEFT_OUT_LABELS, SETS
from lag.verdict.status import URGENCY

PAGE = (Path(__file__).parents[2] / "docs" / "metrics.md").read_text()
HEADINGS = dict(
    zip(NAME_SETS, ("Our own names", "kminion", "kafka-lag-exporter", "kafka_exporter", "Burrow"), strict=True)
)


def line(name: str, labels: str, meaning: str, unknown: str) -> str:
    return f"| `{name}` | {labels or NEVER_UNKNOWN} | {meaning} | {unknown} |"


def lines(families: tuple[Family | PollingFamily, ...]) -> list[str]:
    return [line(family.name, family.labels, family.meaning, family.unknown) for family in families]


def section(heading: str) -> list[str]:
    (text,) = re.findall(rf"^##+ {heading}\n(.*?)(?=^##|\Z)", PAGE, re.MULTILINE | re.DOTALL)
    return re.findall(r"^\| `\w+` \|.*\|$", text, re.MULTILINE)


@pytest.mark.parametrize("name", NAME_SETS)
def test_every_metric_of_a_set_has_its_line(name: str) -> None:
    assert section(HEADINGS[name]) == lines((*SETS[name].polling, *SETS[name].families))


def test_what_the_limit_leaves_out_has_its_lines() -> None:
    expected = [line(name, LEFT_OUT_LABELS, meaning, NEVER_UNKNOWN) for name, meaning in LEFT_OUT.items()]
    assert [found for found in section("What is served") if "_left_out" in found] == expected


def test_verdicts_are_listed_as_the_labels_have_them() -> None:
    assert f"`{', '.join(URGENCY)}`" in PAGE.replace("\n", " ")
