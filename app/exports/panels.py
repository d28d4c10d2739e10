"""Panels of a Grafana dashboard (JSON model, schema version 39)."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

WIDTH = 24
DATASOURCE = {"type": "prometheus", "uid": "${datasource}"}


@dataclass(frozen=True, slots=True)
class Query:
    """A query and the legend of its series; `instant`: only its present value, as a table."""

    expr: str
    legend: str = ""
    instant: bool = False


@dataclass(frozen=True, slots=True)
class Panel:
    """A panel; width and height in Grafana's grid of 24 columns. `kind` is Grafana's name of the visualization.

    `defaults` apply to every field, `overrides` to single ones.
    """

    title: str
    description: str
    kind: str
    queries: Sequence[Query]
    width: int
    height: int = 8
    defaults: Mapping[str, Any] = field(default_factory=dict)
    overrides: Sequence[Mapping[str, Any]] = ()
    options: Mapping[str, Any] = field(default_factory=dict)
    transformations: Sequence[Mapping[str, Any]] = ()


def layout(rows: Mapping[str, Sequence[Panel]]) -> list[dict[str, Any]]:
    """The panels below a heading for each row, numbered from 1; within a row they wrap at 24 columns."""
    found: list[dict[str, Any]] = []
    top = 0
    for title, panels in rows.items():
        found.append(_heading(title, len(found) + 1, top))
        top += 1
        for x, y, panel in _placed(panels, top):
            found.append(_document(panel, len(found) + 1, x, y))
            top = max(top, y + panel.height)
    return found


def _placed(panels: Sequence[Panel], top: int) -> Iterator[tuple[int, int, Panel]]:
    x = line_height = 0
    for panel in panels:
        if x + panel.width > WIDTH:
            x, top, line_height = 0, top + line_height, 0
        yield x, top, panel
        x, line_height = x + panel.width, max(line_height, panel.height)


def _heading(title: str, number: int, top: int) -> dict[str, Any]:
    position = {"x": 0, "y": top, "w": WIDTH, "h": 1}
    return {"id": number, "type": "row", "title": title, "collapsed": False, "gridPos": position, "panels": []}


def _document(panel: Panel, number: int, x: int, y: int) -> dict[str, Any]:
    return {
        "id": number,
        "type": panel.kind,
        "title": panel.title,
        "description": panel.description,
        "datasource": DATASOURCE,
        "gridPos": {"x": x, "y": y, "w": panel.width, "h": panel.height},
        "targets": [_target(query, chr(ord("A") + at)) for at, query in enumerate(panel.queries)],
        "fieldConfig": {"defaults": panel.defaults, "overrides": panel.overrides},
        "options": panel.options,
        "transformations": panel.transformations,
    }


def _target(query: Query, ref: str) -> dict[str, Any]:
    return {
        "refId": ref,
        "datasource": DATASOURCE,
        "expr": query.expr,
        "legendFormat": query.legend,
        "instant": query.instant,
        "range": not query.instant,
        "format": "table" if query.instant else "time_series",
    }


def override(name: str, **properties: Any) -> dict[str, Any]:
    """Properties of the field of that name; `_` in a property stands for a dot."""
    values = [{"id": key.replace("_", "."), "value": value} for key, value in properties.items()]
    return {"matcher": {"id": "byName", "options": name}, "properties": values}
