"""Links to pages of the dashboard, with placeholders that Prometheus or Grafana fills in."""

from app.pages import BY_NAME

DEFAULT_URL = "http://localhost:8501"


def group_page(url: str, cluster: str, group: str) -> str:
    """The Group page; `cluster` and `group` must be encoded for a URL."""
    return f"{url}/{BY_NAME['group'].name}?cluster={cluster}&group={group}"


def about_page(url: str, cluster: str) -> str:
    """The About page, which shows the age of the data and the problems of polls."""
    return f"{url}/{BY_NAME['about'].name}?cluster={cluster}"


def in_alert(label: str) -> str:
    """A label of the alert, encoded for a URL, in an annotation of Prometheus."""
    return f"{{{{ $labels.{label} | urlquery }}}}"
