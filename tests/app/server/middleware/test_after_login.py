"""The address that a browser returns to after a login is one of a page of this server."""

import pytest

from app.server.middleware.after_login import is_page_address, remember, remembered

OF_OTHERS = ("//evil.example", "/\\evil.example", "https://evil.example")
NO_PAGES = ("", "group", "/a/b", "/a\nb", "/a?b c", "/a?ö", "/a#b")


@pytest.mark.parametrize("address", [*OF_OTHERS, *NO_PAGES, "/a?" + "x" * 2001, "/a?b#c", "/a?\\"])
def test_nothing_else_is(address: str) -> None:
    assert not is_page_address(address)
    assert remember(address) == ""
    assert remembered({"_groupscope_next": address}) is None
