"""What the pictures of the labs draw can be read in both themes, and does not rest on colour."""

from collections.abc import Callable, Mapping
from typing import Any

import pytest

from app.ui.charts.lanes import Style
from app.ui.theme import DARK, LIGHT, Palette, luminance
from app.views.labs.calls import charts as calls
from app.views.labs.delivery import charts as delivery
from app.views.labs.watermark import charts as watermark


def contrast(one: str, other: str) -> float:
    dark, light = sorted((luminance(one), luminance(other)))
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("colours", [LIGHT, DARK], ids=["light", "dark"])
@pytest.mark.parametrize("styles", [calls.styles, watermark.styles, delivery.fates, delivery.marks])
def test_a_symbol_has_enough_contrast_on_its_tile(
    styles: Callable[[Palette], Mapping[Any, Style]], colours: Palette
) -> None:
    assert {kind: look for kind, look in styles(colours).items() if contrast(look.ink, look.fill) < 4.5} == {}


@pytest.mark.parametrize("styles", [calls.styles, watermark.styles, delivery.fates, delivery.marks])
def test_each_kind_of_record_has_a_symbol_of_its_own(styles: Callable[[Palette], Mapping[Any, Style]]) -> None:
    looks = styles(LIGHT).values()
    assert len({look.glyph for look in looks}) == len(looks)
