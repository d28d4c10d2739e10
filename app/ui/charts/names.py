"""Names in a figure are plain text. Plotly interprets some HTML in every text, even links, and clients choose names."""

import re
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from plotly.basedatatypes import BaseTraceType
from plotly.graph_objects import Figure

_TAG = re.compile(r"<(?!/?(?:b|i|br|extra)/?>)")
"""Every tag except those that our charts use."""

_OF_A_TRACE = ("name", "text", "hovertext", "hovertemplate", "customdata", "labels", "x", "y")


def as_text(figure: Figure) -> Figure:
    """The figure, in which no text has a tag that our charts do not use. Changes it in place."""
    for trace in _traces(figure):
        _make_plain(trace, _OF_A_TRACE)
        if trace.type == "sankey":
            _make_plain(trace.node, ("label",))
    figure.for_each_xaxis(lambda axis: _make_plain(axis, ("ticktext",)))
    figure.for_each_yaxis(lambda axis: _make_plain(axis, ("ticktext",)))
    figure.for_each_annotation(lambda its: _make_plain(its, ("text", "hovertext")))
    return figure


def _traces(figure: Figure) -> Iterator[BaseTraceType]:
    yield from figure.data
    for frame in figure.frames:
        yield from frame.data


def _make_plain(its: Any, names: Sequence[str]) -> None:
    for name in names:
        if name in its and (value := its[name]) is not None and _has_tag(value):
            its[name] = _plain(value)


def _has_tag(value: Any) -> bool:
    if isinstance(value, str):
        return _TAG.search(value) is not None
    if isinstance(value, np.ndarray) and value.dtype.kind not in "OU":
        return False
    return isinstance(value, Sequence | np.ndarray) and any(map(_has_tag, value))


def _plain(value: Any) -> Any:
    if isinstance(value, str):
        return _TAG.sub("&lt;", value)
    return [_plain(one) for one in value] if isinstance(value, Sequence | np.ndarray) else value
