"""The answer to an address that is no page: the page with the nearest name, and links to all pages.

Streamlit would show the first page instead. The links keep the query, so the cluster, group and time stay chosen.
"""

from collections.abc import Mapping
from html import escape

from app.pages import EMBEDDED_ONLY, FOR_ADMINS, PAGES, PageInfo
from app.server import source
from app.server.plain_page import plain_page
from assignors.spelling import closest


def html(name: str, query: str, base_path: str) -> str:
    """The HTML for the address `name`; links begin with `base_path` and end with `query`."""
    pages = [page for page in PAGES if _is_there(page)]
    links = {page: _link(page, query, base_path) for page in pages}
    near = nearest(name, pages)
    suggested = "No page has a similar name." if near is None else f"Did you mean {links[near]}?"
    listed = "\n".join(f"<li>{links[page]} <span>{escape(page.question)}</span></li>" for page in pages)
    content = f"""<h1>There is no page <code>{escape(name)}</code></h1>
<p class="lead">{suggested}</p>
<ul>{listed}</ul>"""
    return plain_page("No such page", content, base_path)


def _is_there(page: PageInfo) -> bool:
    """Whether the visitor has the page."""
    its = source.current()
    return (its.demo is not None or page.name not in EMBEDDED_ONLY) and (its.is_admin or page.name not in FOR_ADMINS)


def nearest(name: str, pages: list[PageInfo]) -> PageInfo | None:
    """The page whose address or title is most like `name`; None if none is like it."""
    named: Mapping[str, PageInfo] = {_letters(word): page for page in pages for word in (page.name, page.title)}
    close = closest(_letters(name), named)
    return None if close is None else named[close]


def _letters(name: str) -> str:
    return "".join(filter(str.isalnum, name.lower()))


def _link(page: PageInfo, query: str, base_path: str) -> str:
    address = f"{base_path}{'' if page is PAGES[0] else page.name}{query and f'?{query}'}"
    return f'<a href="{escape(address)}">{escape(page.title)}</a>'
