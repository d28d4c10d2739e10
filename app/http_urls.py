"""Addresses that people give, checked before anything is sent to them or links to them."""

from urllib.parse import urlsplit


def http_url(url: str) -> str:
    """The URL. Raises ValueError with a sentence that does not quote it: it may be secret."""
    try:
        parts = urlsplit(url)
        is_http = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
        is_http &= url.isascii() and url.isprintable() and " " not in url
    except ValueError:  # its text may quote the URL
        is_http = False
    if not is_http:
        raise ValueError("A URL is expected that begins with http:// or https://, in ASCII and without spaces.")
    if parts.username is not None:
        raise ValueError("A login is not allowed in a URL. Write it as a header: {Authorization: 'env:NAME'}.")
    return url


def dashboard_url(url: str) -> str:
    """The address of the dashboard, for links, without a slash at the end. Raises ValueError with a sentence."""
    if any(each in url for each in "?#"):
        raise ValueError("The address of the dashboard has no '?' or '#'.")
    return http_url(url).rstrip("/")
