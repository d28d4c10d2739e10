"""Two expositions, compared series by series."""

import re
from collections.abc import Iterable, Mapping
from pathlib import Path

from prometheus_client.parser import text_string_to_metric_families

FIXTURES = Path(__file__).parents[3] / "fixtures" / "exporters"
CHANGING = (
    (re.compile(r"127\.0\.0\.1:\d+"), "127.0.0.1:PORT"),
    (re.compile(r'(?<=port=")\d+'), "PORT"),
    (re.compile(r'(?<=cluster_id=")[^"]+'), "ID"),
    (re.compile(r'(?<=exporter_up\{version=")[^"]+'), "VERSION"),
    (re.compile(r'^(\w+_(?:offset|water_mark|water_mark_sum)\{.*topic(?:_name)?="__\w+"\}) \d+$'), r"\1 N"),
)
"""What is different each time: ports, ids, versions, and how many records are in the internal topics."""

Series = Mapping[str, str]
"""`name{label="value",...}` with the labels in alphabetical order -> value."""

Differences = frozenset[str]
"""`- line` for each series that only they have, `+ line` for each that only we have, and both where values differ."""


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
    """Their lines and ours, masked once they are compared."""
    they, we = set(lines(theirs)), set(lines(ours))
    return frozenset({f"- {_mask(line)}" for line in they - we} | {f"+ {_mask(line)}" for line in we - they})


def masked(found: Series) -> Series:
    """With a word for everything that is different each time."""
    return _read(map(_mask, lines(found)))


def _mask(line: str) -> str:
    for pattern, word in CHANGING:
        line = pattern.sub(word, line)
    return line


def lines(found: Series) -> list[str]:
    """A line for each series, sorted."""
    return sorted(f"{name} {value}" for name, value in found.items())


def _read(from_lines: Iterable[str]) -> dict[str, str]:
    return {name: value for name, _, value in (line.rpartition(" ") for line in from_lines)}


def recorded(exporter: str) -> Series:
    """What the exporter served for the scenario, masked."""
    return _read((FIXTURES / f"{exporter}.txt").read_text().splitlines())


def explained(exporter: str) -> Mapping[str, Differences]:
    """The differences between it and us, by their reason."""
    parts = (FIXTURES / f"{exporter}.diff").read_text().split("# ")[1:]
    return {reason: frozenset(rest) for reason, *rest in (part.strip().splitlines() for part in parts)}


def record(exporter: str, found: Series) -> None:
    """Keep it as `recorded` returns it."""
    (FIXTURES / f"{exporter}.txt").write_text("".join(f"{line}\n" for line in lines(masked(found))))
