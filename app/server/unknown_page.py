"""The answer to an address that is no page: the page with the nearest name, and links to all pages.

Streamlit would show the first page instead. The links keep the query, so the cluster, group and time stay chosen.
"""

from collections.abc import Mapping
from difflib import get_close_matches
from html import escape
from string import Template

import streamlit as st

from app.pages import EMBEDDED_ONLY, PAGES, PageInfo
from app.server import source
from app.server.compat.page_shell import font_address

THEMES = ("light", "dark")
COLOURS = ("backgroundColor", "textColor", "linkColor", "borderColor", "codeBackgroundColor", "grayColor")

HTML = Template("""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>No such page · groupscope</title>
<style>
@font-face { font-family: "Source Sans"; src: url("$font") format("woff2"); font-weight: 200 900 }
:root { color-scheme: light dark; $light }
@media (prefers-color-scheme: dark) { :root { $dark } }
body { font: 14px/1.6 "Source Sans", sans-serif; color: var(--textColor); background: var(--backgroundColor);
  max-width: 44rem; margin: 0 auto; padding: 2.5rem 1rem }
h1 { font-size: 1.4rem; line-height: 1.3; font-weight: 600; margin: 0 0 .5rem }
a { color: var(--linkColor); text-decoration: none }
a:hover, a:focus { text-decoration: underline }
code { background: var(--codeBackgroundColor); border-radius: 4px; padding: .1em .3em; overflow-wrap: anywhere }
.near { font-size: 1.05rem; margin: 0 0 1.5rem }
ul { list-style: none; padding: .75rem 0 0; margin: 0; border-top: 1px solid var(--borderColor) }
li { margin: .25rem 0 }
li span { color: var(--grayColor); margin-left: .5rem }
</style>
</head>
<body>
<main>
<h1>There is no page <code>$name</code></h1>
<p class="near">$near</p>
<ul>$pages</ul>
</main>
</body>
</html>""")


def html(name: str, query: str, base_path: str) -> str:
    """The HTML for the address `name`; links begin with `base_path` and end with `query`."""
    demo = source.current().demo is not None
    pages = [page for page in PAGES if demo or page.name not in EMBEDDED_ONLY]
    links = {page: _link(page, query, base_path) for page in pages}
    near = nearest(name, pages)
    return HTML.substitute(
        name=escape(name),
        near="No page has a similar name." if near is None else f"Did you mean {links[near]}?",
        pages="\n".join(f"<li>{links[page]} <span>{escape(page.question)}</span></li>" for page in pages),
        font=f"{base_path}{font_address()}",
        **{theme: _variables(theme) for theme in THEMES},
    )


def nearest(name: str, pages: list[PageInfo]) -> PageInfo | None:
    """The page whose address or title is most like `name`; None if none is like it."""
    named: Mapping[str, PageInfo] = {_letters(word): page for page in pages for word in (page.name, page.title)}
    close = get_close_matches(_letters(name), named, n=1)
    return named[close[0]] if close else None


def _letters(name: str) -> str:
    return "".join(filter(str.isalnum, name.lower()))


def _link(page: PageInfo, query: str, base_path: str) -> str:
    address = f"{base_path}{'' if page is PAGES[0] else page.name}{query and f'?{query}'}"
    return f'<a href="{escape(address)}">{escape(page.title)}</a>'


def _variables(theme: str) -> str:
    return "; ".join(f"--{name}: {st.get_option(f'theme.{theme}.{name}')}" for name in COLOURS)
