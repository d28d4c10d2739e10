"""Prometheus's own evaluation of rules on series that /metrics served: `promtool test rules`.

Debian's package `prometheus` has promtool.
"""

import re
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
import yaml

needs_promtool = pytest.mark.skipif(
    shutil.which("promtool") is None, reason="promtool is not installed: apt-get install prometheus"
)
_SAMPLE = re.compile(r"^(\w+)(?:\{(.*)\})? (\S+)$")


def input_series(scrapes: Sequence[str], more: str = "") -> list[dict[str, str]]:
    """The series of scrapes at equal intervals; `more` is added to the labels.

    Where a scrape does not have one, the series has ended (`stale`): Prometheus does not look for an earlier sample.
    """
    values: dict[str, list[str]] = {}
    for at, scrape in enumerate(scrapes):
        for line in scrape.splitlines():
            if found := _SAMPLE.match(line):
                labels = ",".join(filter(None, (found[2], more)))
                values.setdefault(f"{found[1]}{{{labels}}}", ["stale"] * len(scrapes))[at] = found[3]
    return [{"series": series, "values": " ".join(numbers)} for series, numbers in values.items()]


def evaluate(
    folder: Path, rules: Mapping[str, Any], series: Sequence[Mapping[str, str]], expected: Mapping[str, Any]
) -> None:
    """`expected` has promtool's `alert_rule_test` or `promql_expr_test`; fails with what promtool prints."""
    (folder / "rules.yml").write_text(yaml.safe_dump(dict(rules)))
    test = {"interval": "1m", "input_series": list(series), **expected}
    whole = {"rule_files": ["rules.yml"], "evaluation_interval": "1m", "tests": [test]}
    (folder / "test.yml").write_text(yaml.safe_dump(whole))
    promtool(folder, "test", "rules", "test.yml")


def promtool(folder: Path, *args: str) -> None:
    """Run promtool, which must find nothing wrong."""
    done = subprocess.run(["promtool", *args], cwd=folder, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def values(expr: str, at: str, samples: Mapping[str, float]) -> dict[str, Any]:
    """The expectation that an expression has these samples at a time, by their series."""
    return {
        "expr": expr,
        "eval_time": at,
        "exp_samples": [{"labels": labels, "value": value} for labels, value in samples.items()],
    }
