"""The policy file: what it sets for which groups, what is wrong in which line, and that it is read again."""

import os
from dataclasses import fields
from functools import partial
from pathlib import Path

import pytest

from lag.errors import ConfigError
from lag.polling import policy_file
from lag.verdict.openings.policy import GroupPolicy, Policy
from lag.verdict.rules.status_rules import Rules
from lag.watched_file import WatchedFile


def load_policy(path: Path, interval_s: float = 10.0) -> Policy:
    return policy_file.load_policy(path, interval_s)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "policy.yaml"


def written(file: Path, text: str) -> Path:
    """The file with that text, changed a second after it was."""
    before = file.stat().st_mtime_ns if file.exists() else 10**18
    file.write_text(text)
    os.utime(file, ns=(before + 10**9, before + 10**9))
    return file


@pytest.mark.parametrize("text", ["", "# nothing yet\n", "{}", "lag_floor:\n", "check_records: 20\n"])
def test_a_file_that_sets_nothing_is_the_default(file: Path, text: str) -> None:
    policy = load_policy(written(file, text))
    assert policy == Policy()
    assert policy.of("any") == GroupPolicy(Rules())
    assert policy.shows_every_poll


def test_a_pattern_applies_on_top_of_the_rest_and_the_first_one_counts(file: Path) -> None:
    policy = load_policy(
        written(
            file,
            """
            lag_floor: 100
            open_polls: 2
            groups:
              - pattern: payments-audit
                close_polls: 5
              - pattern: "payments-*"
                lag_floor: 0
                flapping_openings: 4
            """,
        )
    )
    assert policy.of("orders") == GroupPolicy(Rules(lag_floor=100), open_polls=2)
    assert policy.of("payments-audit") == GroupPolicy(Rules(lag_floor=100), open_polls=2, close_polls=5)
    assert policy.of("payments-eu") == GroupPolicy(Rules(lag_floor=0), open_polls=2, flapping_openings=4)
    assert policy.of("Payments-eu") == policy.default
    rules = policy.rules_of(["payments-eu", "orders", "payments-audit"])
    assert [rules.of(at).lag_floor for at in range(3)] == [0, 100, 100]
    assert not policy.shows_every_poll


def test_every_threshold_can_be_set(file: Path) -> None:
    names = [field.name for field in (*fields(Rules), *fields(GroupPolicy)) if field.name != "rules"]
    policy = load_policy(
        written(file, "\n".join(f"{name}: {1 if name in ('gain', 'noise_share') else 7}" for name in names))
    )
    numbers = {getattr(policy.default.rules, field.name) for field in fields(Rules)}
    assert numbers == {1, 7}
    assert policy.default.open_polls == policy.default.close_polls == policy.default.flapping_openings == 7
    assert policy.default.flapping_s == 7


def test_json_is_read_too(tmp_path: Path) -> None:
    path = tmp_path / "policy.json"
    path.write_text('{"groups": [{"pattern": "a*", "min_s": 60}]}')
    assert load_policy(path).of("ab").rules == Rules(min_s=60)


def test_every_error_has_its_line_and_the_nearest_name(file: Path) -> None:
    groups = "groups:\n  - pattern: a\n    min_s: soon\n  - lag_floor: -1\n    trend_samples: 13\n"
    text = f"lag_floor: 100\nmin_sample: 4\n{groups}"
    with pytest.raises(ConfigError) as refused:
        load_policy(written(file, text))
    for stated in (
        "policy.yaml: line 2: min_sample: The key 'min_sample' is unknown. Did you mean 'min_samples'?",
        "line 5: groups[0].min_s: A number",
        "line 6: groups[1].pattern: The key 'pattern' is missing.",
        "line 6: groups[1].lag_floor: This must be at least 0.",
        "line 7: groups[1].trend_samples: This must be at most 12.",
    ):
        assert stated in str(refused.value)


def test_a_time_that_the_kept_polls_never_span_is_refused_with_the_limit(file: Path) -> None:
    text = "lag_floor: 1\nmin_s: 295\ngroups:\n  - pattern: a\n    min_s: 295.5\n"
    with pytest.raises(ConfigError) as refused:
        load_policy(written(file, text), 5.0)
    assert str(refused.value) == (
        f"{file}: line 5: groups[0].min_s: This must be at most 295: 60 polls are kept, one every 5 s."
    )
    assert load_policy(file, 10.0).of("a").rules.min_s == 295.5


@pytest.mark.parametrize(
    ("text", "stated"),
    [
        ("lag_floor: 1\nlag_floor: 2", "line 2: The key 'lag_floor' is listed twice"),
        ("lag_floor: true", "line 1: lag_floor: A whole number"),
        (f"noise_records: {10**40}", "line 1: noise_records: This must be at most"),
        ("- lag_floor: 1", "line 1: A mapping"),
        ("lag_floor: [", "This is not YAML"),
        ("groups: {}", "line 1: groups: A list"),
        (
            "groups: [{pattern: 'a-*'}, {pattern: 'a-b-*'}]",
            "line 1: groups: 'a-b-*' is never used: 'a-*', before it, matches all",
        ),
        ("groups: [{pattern: 'a?'}, {pattern: b}, {pattern: 'a?'}]", "line 1: groups: 'a?' is never used"),
    ],
)
def test_a_broken_file_is_refused(file: Path, text: str, stated: str) -> None:
    with pytest.raises(ConfigError, match=r"policy\.yaml: .*") as refused:
        load_policy(written(file, text))
    assert stated in str(refused.value)


def test_patterns_may_overlap_if_the_narrower_one_comes_first(file: Path) -> None:
    listed = ["a-b-*", "a-*", "a?c", "a*c", "[ab]*", "b*", "*"]
    load_policy(written(file, "groups:" + "".join(f"\n  - pattern: '{pattern}'" for pattern in listed)))


def test_a_file_that_is_missing_or_no_text_is_refused(file: Path) -> None:
    with pytest.raises(ConfigError, match="No such file"):
        WatchedFile(file, load_policy)
    file.write_bytes(b"\xff")
    with pytest.raises(ConfigError, match="is not UTF-8"):
        WatchedFile(file, load_policy)


def test_a_change_takes_effect_at_the_next_reading(file: Path) -> None:
    policy = WatchedFile(written(file, "lag_floor: 1"), load_policy)
    assert policy.read().value.default.rules.lag_floor == 1
    written(file, "lag_floor: 2")
    assert policy.read().value.default.rules.lag_floor == 2
    assert policy.read().problem is None


def test_a_file_that_did_not_change_is_not_read_again(file: Path) -> None:
    policy = WatchedFile(written(file, "lag_floor: 1"), load_policy)
    assert policy.read().value is policy.read().value


def test_a_change_that_nobody_can_read_is_a_problem_and_no_exception(file: Path) -> None:
    def load(path: Path) -> int:
        return 10 // int(path.read_text())

    numbers = WatchedFile(written(file, "5"), load)
    written(file, "0")
    assert numbers.read().value == 2
    assert str(numbers.read().problem) == f"{file} cannot be read: ZeroDivisionError"


def test_the_last_good_policy_stays_while_the_file_is_broken(file: Path) -> None:
    policy = WatchedFile(written(file, "lag_floor: 1"), load_policy)
    written(file, "lag_flor: 2")
    broken = policy.read()
    assert broken.value.default.rules.lag_floor == 1
    assert "line 1: lag_flor" in str(broken.problem)
    assert policy.read() == broken
    written(file, "lag_floor: 3")
    mended = policy.read()
    assert (mended.value.default.rules.lag_floor, mended.problem) == (3, None)


def test_a_changed_file_is_checked_for_the_same_interval(file: Path) -> None:
    policy = WatchedFile(written(file, "min_s: 295"), partial(policy_file.load_policy, interval_s=5.0))
    written(file, "min_s: 296")
    assert policy.read().value.default.rules.min_s == 295
    assert "line 1: min_s: This must be at most 295" in str(policy.read().problem)


def test_the_last_good_policy_stays_while_the_file_is_gone(file: Path) -> None:
    policy = WatchedFile(written(file, "lag_floor: 1"), load_policy)
    file.unlink()
    assert policy.read().value.default.rules.lag_floor == 1
    assert "No such file" in str(policy.read().problem)
    written(file, "lag_floor: 1")
    assert policy.read().problem is None
