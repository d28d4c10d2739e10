"""A page without Streamlit, in the colours and the font of the pages."""

from html import escape
from string import Template

import streamlit as st

from app.server.compat.page_shell import font_address

THEMES = ("light", "dark")
COLOURS = ("backgroundColor", "textColor", "linkColor", "borderColor", "codeBackgroundColor", "grayColor")

HTML = Template("""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>$title · groupscope</title>
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
.login a { display: inline-block; padding: .45rem 1rem; border: 1px solid var(--borderColor); border-radius: 4px }
.lead { font-size: 1.05rem; margin: 0 0 1.5rem }
ul { list-style: none; padding: .75rem 0 0; margin: 0; border-top: 1px solid var(--borderColor) }
li { margin: .25rem 0 }
li span { color: var(--grayColor); margin-left: .5rem }
</style>
</head>
<body>
<main>
$content
</main>
</body>
</html>""")


def plain_page(title: str, content: str, base_path: str) -> str:
    """The HTML of a page with that content, which is HTML."""
    return HTML.substitute(
        title=escape(title),
        content=content,
        font=f"{base_path}{font_address()}",
        **{theme: _variables(theme) for theme in THEMES},
    )


def _variables(theme: str) -> str:
    return "; ".join(f"--{name}: {st.get_option(f'theme.{theme}.{name}')}" for name in COLOURS)
