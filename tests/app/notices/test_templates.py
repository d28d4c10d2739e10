"""Templates insert and choose; whatever could take long or grow is refused or stopped."""

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.notices.templates import FILTERS, MOST_RENDERED, Into, InvalidTemplate, compiled

FIELDS = {"group": 'a"<b', "url": None, "extras": {"team": "data"}, "at_ms": 7, "test": False}


def made(text: str, into: Into = Into.TEXT) -> str:
    return compiled(text, list(FIELDS), into).render(FIELDS)


@pytest.mark.parametrize(
    ("text", "result"),
    [
        ("{{ group }}\n", 'a"<b\n'),
        ("{{ group | tojson }} {{ url | tojson }}", '"a\\"<b" null'),
        ("{% if url %}at {{ url }}{% elif test %}t{% else %}nowhere{% endif %}", "nowhere"),
        ("{{ url }}{{ extras.team | upper }}{{ extras.phone | default('none') }}", "DATAnone"),
        ("{{ 'late' if at_ms > 5 and not test else 'early' }}", "late"),
        ("{{ group ~ at_ms }} {{ group | truncate(1) }} {{ ' x ' | trim }} {{ 'X' | lower }}", 'a"<b7 a x x'),
        ("{{ 'a b/c' | urlencode }}", "a%20b%2Fc"),
        ("{# nothing #}{% raw %}{{ group }}{% endraw %}", "{{ group }}"),
    ],
)
def test_fields_are_inserted(text: str, result: str) -> None:
    assert made(text) == result


def test_what_is_inserted_into_a_url_is_percent_encoded() -> None:
    assert made("https://x/{{ group }}?a={{ extras.team }}{{ url }}", into=Into.URL) == "https://x/a%22%3Cb?a=data"


@pytest.mark.parametrize(
    ("text", "stated"),
    [
        ("{% for i in 'ab' %}{% endfor %}", "{% for %}"),
        ("{{ range(10) }}", "A call"),
        ("{{ group.upper() }}", "A call"),
        ("{{ 'a' * 1000000000 }}", "*"),
        ("{{ 9 ** 9 ** 9 }}", "**"),
        ("{% set x = group %}", "{% set %}"),
        ("{% macro m() %}{% endmacro %}", "{% macro %}"),
        ("{% include 'x' %}", "{% include %}"),
        ("{% import 'x' as x %}", "{% import %}"),
        ("{{ group | center(1000000000) }}", "The filter 'center' is unknown"),
        ("{{ grup }}", "The field 'grup' is unknown. Did you mean 'group'?"),
        ("{{ self }}", "The field 'self' is unknown"),
        ("{{ group", "This is not a template"),
        ("{{ " + "(" * 5_000 + "1" + ")" * 5_000 + " }}", "nested too deeply"),
        ("x" * 20_000, "longer than 16,384 characters"),
    ],
)
def test_what_could_loop_or_call_is_refused_when_the_file_is_loaded(text: str, stated: str) -> None:
    with pytest.raises(InvalidTemplate) as refused:
        compiled(text, list(FIELDS))
    assert stated in str(refused.value)


@pytest.mark.parametrize("text", ["{{ '\"' " + "| tojson" * 40 + " }}", "{{ big }}{{ big }}", "{{ big ~ big ~ big }}"])
def test_a_result_that_is_huge_is_stopped(text: str) -> None:
    template = compiled(text, ["big"])
    with pytest.raises(InvalidTemplate, match="longer than 65,536 characters"):
        template.render({"big": "x" * (MOST_RENDERED - 1)})


@pytest.mark.parametrize("text", ["{{ group.__class__ }}", "{{ extras.phone }}", "{{ group | truncate('a') }}"])
def test_what_cannot_be_rendered_says_so(text: str) -> None:
    with pytest.raises(InvalidTemplate, match="It cannot be rendered"):
        made(text)


@pytest.mark.parametrize(
    ("text", "cause"),
    [
        ("{{ group.upper }}", "only extras has names such as 'upper'"),
        ("{{ group['upper'] }}", "only extras has names such as 'upper'"),
        ("{{ extras.phone }}", "extras has no 'phone'"),
        ("{{ extras.items }}", "extras has no 'items'"),
        ("{{ extras['items'] }}", "extras has no 'items'"),
    ],
)
def test_a_name_that_is_not_in_extras_is_named(text: str, cause: str) -> None:
    with pytest.raises(InvalidTemplate) as refused:
        made(text)
    assert str(refused.value) == f"It cannot be rendered: {cause}."


def test_a_text_of_extras_can_have_the_name_of_a_method() -> None:
    assert compiled("{{ extras.items }}", ["extras"]).render({"extras": {"items": "7"}}) == "7"


TAGS = ("{{", "}}", "{%", "%}", "if", "endif", "for i in", "endfor", "group", "extras", ".team", "[0]", "(", ")", "|")
WORDS = ("'a'", '"', "\\", "*", "**", "9", "not", "and", "==", "~", "__class__", "loop", " ", *FILTERS)
pieces = st.sampled_from([*TAGS, *WORDS])


@given(st.lists(pieces, max_size=30).map(" ".join))
def test_any_text_is_a_template_of_bounded_result_or_refused(text: str) -> None:
    with suppress(InvalidTemplate):
        assert len(made(text)) <= MOST_RENDERED
