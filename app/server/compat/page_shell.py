"""Streamlit's index.html with the address of its backend, and the address of its font.

Without the address, a deep link such as /group?group=x first requests `/group/_stcore/health`, and the browser's
console shows failed requests.

Checked against Streamlit 1.67.0 (`streamlit.file_util.get_static_dir`, and `window.__streamlit` from
https://github.com/streamlit/streamlit/pull/11378). Unnecessary once this issue is fixed:
https://github.com/streamlit/streamlit/issues/7074.
"""

import re
from collections.abc import Sequence
from pathlib import Path

from streamlit.file_util import get_static_dir


def page_shell(base_path: str) -> str:
    """The HTML of a page whose backend is at `base_path` of the same origin."""
    script = f'<head><script>window.__streamlit={{BACKEND_BASE_URL:location.origin+"{base_path}"}}</script>'
    return (Path(get_static_dir()) / "index.html").read_text().replace("<head>", script, 1)


def inline_scripts(html: str) -> Sequence[str]:
    """The texts of the scripts in the HTML."""
    found: Sequence[str] = re.findall(r"<script>(.*?)</script>", html, re.DOTALL)
    return found


def font_address() -> str:
    """The path of the font of Streamlit's pages, below the base path; its name holds a hash."""
    static = Path(get_static_dir())
    return next(static.glob("static/media/SourceSansVF-Upright*.woff2")).relative_to(static).as_posix()
