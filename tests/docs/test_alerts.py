"""The page about alerts has a line for each one, as the rules have it."""

import re
from pathlib import Path

from app.exports.alerts import VERDICT_ALERTS, Thresholds, alert_name, alerts
from app.exports.links import DEFAULT_URL
from app.exports.rules import RECORDINGS
from app.ui.verdicts import VERDICTS

PAGE = (Path(__file__).parents[2] / "docs" / "alerts.md").read_text()
ROWS = re.findall(r"^\| `(\w+)` \| (\w+) \| (\w+) \| (.*) \|$", PAGE, re.MULTILINE)


def test_every_alert_has_its_line() -> None:
    made = alerts(DEFAULT_URL, Thresholds())
    assert [row[:3] for row in ROWS] == [(alert.name, alert.severity, alert.holds) for alert in made]


def test_alert_of_a_verdict_has_its_word() -> None:
    words = {row[0]: row[3] for row in ROWS}
    assert all(words[alert_name(status)].endswith(VERDICTS[status].word) for status in VERDICT_ALERTS)


def test_every_recording_has_its_line() -> None:
    assert re.findall(r"^\| `(\w+:\w+:\w+)` \|", PAGE, re.MULTILINE) == list(RECORDINGS)


def test_thresholds_are_the_default_ones() -> None:
    thresholds = Thresholds()
    assert f"older than {thresholds.time_lag_s // 60} min (`--time-lag" in PAGE
    assert f"older than {thresholds.poll_age_s // 60} min (`--poll-age" in PAGE
