"""What a query can ask for, and the error when it asks for something wrong."""

import pytest

from app.metrics.options import NAME_SETS, Granularity, InvalidOption, Options, name_sets

DEFAULTS = Options(names=("kminion",), groups="a.*", max_series=1_000)


def asked(*query: tuple[str, str]) -> Options:
    return DEFAULTS.with_query(query)


def test_empty_query_asks_for_the_defaults() -> None:
    assert asked() == DEFAULTS


def test_query_overrides_the_defaults_one_by_one() -> None:
    options = asked(("names", "own,burrow"), ("granularity", "topic"), ("exclude_topics", "__.*"), ("max_series", "9"))
    assert options == Options(
        names=("own", "burrow"), granularity=Granularity.TOPIC, groups="a.*", exclude_topics="__.*", max_series=9
    )


def test_names_and_clusters_may_be_given_several_times() -> None:
    options = asked(("names", "burrow"), ("names", "own"), ("cluster", "a,b"), ("cluster", "c"))
    assert (options.names, options.clusters) == (("own", "burrow"), ("a,b", "c"))


def test_all_names_are_every_set() -> None:
    assert name_sets("all") == NAME_SETS


def test_empty_pattern_removes_that_of_the_defaults() -> None:
    assert asked(("groups", "")).groups is None


@pytest.mark.parametrize(
    ("parameter", "value", "message"),
    [
        ("names", "kminnion", "names: unknown; did you mean kminion?"),
        ("names", "", "names: unknown; choose from own, kminion, lag-exporter, kafka-exporter, burrow, all"),
        ("names", "own,", "names: unknown; choose from own, kminion, lag-exporter, kafka-exporter, burrow, all"),
        ("granularity", "topics", "granularity: unknown; did you mean topic?"),
        ("groups", "(", "groups: this is not a valid RE2 expression"),
        ("groups", "a)|(b", "groups: this is not a valid RE2 expression"),
        ("topics", r"\Qa", "topics: this is not a valid RE2 expression"),
        ("exclude_groups", "(?=a)", "exclude_groups: this is not a valid RE2 expression"),
        ("exclude_topics", "a" * 1_001, "exclude_topics: the pattern is longer than 1,000 characters"),
        ("max_series", "0", "max_series: must be a number from 1 to 1000, the server's own limit"),
        ("max_series", "1001", "max_series: must be a number from 1 to 1000, the server's own limit"),
        ("max_series", "-5", "max_series: must be a number from 1 to 1000, the server's own limit"),
        ("max_series", "9" * 5_000, "max_series: must be a number from 1 to 1000, the server's own limit"),
        ("group", "a", "group: unknown; did you mean groups?"),
    ],
)
def test_wrong_parameter_is_named(parameter: str, value: str, message: str) -> None:
    with pytest.raises(InvalidOption) as caught:
        asked((parameter, value))
    assert str(caught.value) == message


def test_pattern_that_is_given_twice_is_refused() -> None:
    with pytest.raises(InvalidOption, match="groups: given 2 times"):
        asked(("groups", "a"), ("groups", "b"))
