"""Which format is served, and how values and labels are written."""

import numpy as np
import pytest

from app.metrics.text_format import OPENMETRICS, PLAIN, TextFormat, extended, negotiate, number, pairs, series

PROMETHEUS = (
    "application/openmetrics-text;version=1.0.0;escaping=allow-utf-8;q=0.6,"
    "application/openmetrics-text;version=0.0.1;q=0.5,text/plain;version=1.0.0;escaping=allow-utf-8;q=0.4,"
    "text/plain;version=0.0.4;q=0.3,*/*;q=0.2"
)
"""What Prometheus 3 sends."""


@pytest.mark.parametrize(
    ("accept", "form"),
    [
        (PROMETHEUS, OPENMETRICS),
        ("application/openmetrics-text; version=1.0.0", OPENMETRICS),
        ("application/openmetrics-text", OPENMETRICS),
        ("application/openmetrics-text;q=0.5,text/plain;q=0.4", OPENMETRICS),
        ("application/openmetrics-text;q=0.4,text/plain;q=0.5", PLAIN),
        ("application/openmetrics-text;version=2.0.0", PLAIN),
        ("application/openmetrics-text;q=0", PLAIN),
        ("application/openmetrics-text;q=much", PLAIN),
        ("text/plain;version=0.0.4", PLAIN),
        ("text/html,*/*;q=0.8", PLAIN),
        ("", PLAIN),
    ],
)
def test_format_is_the_one_that_is_preferred(accept: str, form: TextFormat) -> None:
    assert negotiate(accept) is form


def test_content_types_are_those_of_the_formats() -> None:
    assert PLAIN.content_type == "text/plain; version=0.0.4; charset=utf-8"
    assert OPENMETRICS.content_type == "application/openmetrics-text; version=1.0.0; charset=utf-8"


def test_backslashes_quotes_and_newlines_in_labels_are_escaped_and_nothing_else() -> None:
    assert pairs([("a", 'x"y\\n\n\t{}é')]) == '{a="x\\"y\\\\n\\n\t{}é"}'


def test_labels_are_extended_with_or_without_others() -> None:
    assert extended('{a="1"}', ("b", "2"), ("c", '"')) == '{a="1",b="2",c="\\""}'
    assert extended("", ("b", "2")) == '{b="2"}'


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.0, "0.0"), (-1.5, "-1.5"), (1795258817.123, "1795258817.123"), (float("inf"), "+Inf"), (float("nan"), "NaN")],
)
def test_floats_are_written_as_prometheus_reads_them(value: float, text: str) -> None:
    assert number(value) == text


def test_unknown_integers_and_floats_have_no_sample() -> None:
    labels = ["{a}", "{b}", "{c}"]
    assert list(series(labels, np.array([1, -1, 2**53], np.int64))) == [("{a}", "1"), ("{c}", "9007199254740992")]
    assert list(series(labels, np.array([1.0, np.nan, np.inf]))) == [("{a}", "1.0"), ("{c}", "+Inf")]


def test_known_says_which_samples_there_are_whatever_their_values() -> None:
    known = np.array([False, True])
    assert list(series(["{a}", "{b}"], np.array([0, -1], np.int64), known)) == [("{b}", "-1")]
    assert list(series(["{a}", "{b}"], known, np.ones(2, np.bool_))) == [("{a}", "0"), ("{b}", "1")]
