"""After a login, the browser returns to the page that it asked for. Streamlit would show the first page."""

import re
from urllib.parse import quote, unquote

COOKIE = "_groupscope_next"
_PAGE = re.compile(r"/[A-Za-z0-9_-]*(\?[!-\[\]-~]{0,2000})?")


def is_page_address(address: str) -> bool:
    """Whether the address is one of a page of this server: a path of one word, and a query in ASCII without a blank."""
    return _PAGE.fullmatch(address) is not None and "#" not in address


def remember(address: str) -> str:
    """The Set-Cookie header that keeps the address; "" for one that is none of this server."""
    return (
        f"{COOKIE}={quote(address, safe='')}; Path=/; Max-Age=600; SameSite=Lax; HttpOnly"
        if is_page_address(address)
        else ""
    )


def remembered(cookies: dict[str, str]) -> str | None:
    """The address that was kept."""
    address = unquote(cookies.get(COOKIE, ""))
    return address if is_page_address(address) else None


FORGET = f"{COOKIE}=; Path=/; Max-Age=0; SameSite=Lax; HttpOnly"
