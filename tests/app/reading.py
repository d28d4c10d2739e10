"""What a page of an AppTest says and shows."""

import json
from typing import Any

import pandas as pd
from streamlit.testing.v1 import AppTest


def page_text(page: AppTest) -> str:
    """All headings and running text."""
    return "\n".join(element.value for element in [*page.title, *page.markdown])


def title(page: AppTest) -> str:
    """The first heading."""
    return str(page.title[0].value)


def asked(page: AppTest) -> dict[str, str]:
    """The URL parameters."""
    return {name: value if isinstance(value, str) else value[0] for name, value in page.query_params.items()}


def table(page: AppTest, described: str) -> pd.DataFrame:
    """The table whose alternative text contains `described`."""
    return next(element.value for element in page.dataframe if described in element.proto.alt)


def alt(page: AppTest, key: str) -> str:
    """The alternative text of the chart with that key."""
    return str(_chart(page, key).proto.alt)


def figure(page: AppTest, key: str) -> dict[str, Any]:
    """The Plotly figure of the chart with that key."""
    return dict(json.loads(_chart(page, key).proto.spec))


def _chart(page: AppTest, key: str) -> Any:
    return next(chart for chart in page.get("plotly_chart") if key in chart.proto.id)
