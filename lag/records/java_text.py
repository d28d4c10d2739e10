"""Decodes UTF-8 as Java does (`new String(bytes, UTF_8)`)."""

import re

_SURROGATE = re.compile(rb"\xed[\xa0-\xbf][\x80-\xbf]?")


def text(data: bytes | memoryview) -> str:
    """The text; invalid bytes become U+FFFD: one for a surrogate, where Python has one for each of its bytes.

    >>> text(bytes.fromhex("41eda08042")), text(bytes.fromhex("41edbf42")), text(b"\\xff\\xfe")
    ('A\\ufffdB', 'A\\ufffdB', '\\ufffd\\ufffd')
    """
    try:
        return str(data, "utf-8")
    except UnicodeDecodeError:
        return _SURROGATE.sub(b"\xff", data).decode(errors="replace")
