"""Two expositions, compared series by series."""

import re
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path

from prometheus_client.parser import text_string_to_metric_families

FIXTURES = Path(__file__).parents[3] / "fixtures" / "exporters"
CHANGING = (
    (re.compile(r"127\.0\.0\.1:\d+"), "127.0.0.1:PORT"),
    (re.compile(r'(?<=port=")\d+'), "PORT"),
    (re.compile(r'(?<=cluster_id=")[^"]+'), "ID"),
    (re.compile(r'^(\w+_(?:offset|water_mark|water_mark_sum)\{.*topic(?:_name)?="__\w+"\}) \d+$'), r"\1 N"),
)
"""What is different each time: ports, the cluster's id, and how many records are in the internal topics."""

Series = Mapping[str, str]
"""`name{label="value",...}` with the labels in alphabetical order -> value."""

Differences = Mapping[str, tuple[str | None, str | None]]
"""Series -> their value and ours, None where there is no such series."""


def series(exposition: str, prefix: str) -> dict[str, str]:
    """The series of an exposition whose names begin so."""
    samples = (sample for family in text_string_to_metric_families(exposition) for sample in family.samples)
    return {
        _labelled(sample.name, sample.labels): f"{sample.value:.15g}"
        for sample in samples
        if sample.name.startswith(prefix)
    }


def _labelled(name: str, labels: Mapping[str, str]) -> str:
    pairs = ",".join(f'{label}="{value}"' for label, value in sorted(labels.items()))
    return f"{name}{{{pairs}}}" if pairs else name


def name_of(labelled: str) -> str:
    """The name of a series."""
    return labelled.partition("{")[0]


def differences(theirs: Series, ours: Series) -> Differences:
    """The series that only one of them has, or that have two values."""
    every = theirs.keys() | ours.keys()
    return {name: (theirs.get(name), ours.get(name)) for name in every if theirs.get(name) != ours.get(name)}


def masked(found: Mapping[str, str]) -> Series:
    """With a word for everything that is different each time."""
    return _read(map(_mask, lines(found)))


def _mask(line: str) -> str:
    for pattern, word in CHANGING:
        line = pattern.sub(word, line)
    return line


def masked_names(found: Differences) -> Differences:
    """The same, of differences between two scrapes of one broker: their values are compared as they are."""
    return {_mask(name): values for name, values in found.items()}


def lines(found: Series) -> list[str]:
    """A line for each series, sorted."""
    return sorted(f"{name} {value}" for name, value in found.items())


def _read(from_lines: Iterable[str]) -> dict[str, str]:
    return {name: value for name, _, value in (line.rpartition(" ") for line in from_lines)}


@cache
def recorded(peer: str) -> Series:
    """What the exporter said of the scenario, masked."""
    return _read((FIXTURES / f"{peer}.txt").read_text().splitlines())


def record(peer: str, found: Series) -> None:
    """Keep it as `recorded` returns it."""
    (FIXTURES / f"{peer}.txt").write_text("".join(f"{line}\n" for line in lines(masked(found))))
