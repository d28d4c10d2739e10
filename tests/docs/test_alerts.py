"""The page about alerts has a line for each one, as the rules have it."""

import re
from pathlib import Path

from app.exports.alerts import Thresholds, alert_name, alerts
from app.exports.links import DEFAULT_URL
from app.exports.rules import RECORDINGS
from lag.verdict.catalogue import CALM, INCIDENTS, VERDICTS, Severity

PAGE = (Path(__file__).parents[2] / "docs" / "alerts.md").read_text()
ROWS = re.findall(r"^\| `(\w+)` \| (\w+) \| (\w+) \| (.*) \|$", PAGE, re.MULTILINE)


def test_every_alert_has_its_line() -> None:
    made = alerts(DEFAULT_URL, Thresholds())
    assert [row[:3] for row in ROWS] == [(alert.name, alert.severity, alert.holds) for alert in made]


def test_alert_of_a_verdict_has_its_word() -> None:
    words = {row[0]: row[3] for row in ROWS}
    assert all(words[alert_name(status)].endswith(VERDICTS[status].word) for status in VERDICTS if status not in CALM)


def test_every_recording_has_its_line() -> None:
    assert re.findall(r"^\| `(\w+:\w+:\w+)` \|", PAGE, re.MULTILINE) == list(RECORDINGS)


def test_thresholds_are_the_default_ones() -> None:
    thresholds = Thresholds()
    assert f"older than {thresholds.time_lag_s // 60} min (`--time-lag" in PAGE
    assert f"older than {thresholds.poll_age_s // 60} min (`--poll-age" in PAGE


def test_the_page_about_notices_has_the_severity_of_every_verdict() -> None:
    page = (Path(__file__).parents[2] / "docs" / "notices.md").read_text()
    stated = dict(re.findall(r"^\| `(critical|warning|info)` \| (.*) \|$", page, re.MULTILINE))
    for severity in Severity:
        words = [VERDICTS[status].word for status, its in INCIDENTS.items() if its is severity]
        assert stated[severity.word] == ", ".join(words)
