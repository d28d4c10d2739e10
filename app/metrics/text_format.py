"""The two text formats that Prometheus reads: 0.0.4, and OpenMetrics 1.0.0.

A metric family becomes lines from two columns, label pairs and values. (prometheus_client makes an object of each
sample first, which takes several times as long.)
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import compress
from typing import Any

import numpy as np
from numpy.typing import NDArray
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4
from prometheus_client.openmetrics.exposition import CONTENT_TYPE_LATEST

from lag.offsets import UNKNOWN, Flags

Samples = Iterable[tuple[str, str]]
"""The label pairs of each series in braces, or "" for none, and its value, as text."""

_ESCAPES = str.maketrans({"\\": r"\\", "\n": r"\n", '"': r"\""})


@dataclass(frozen=True, slots=True)
class TextFormat:
    """A text format, by its content type; only 0.0.4 allows comments, only OpenMetrics marks the end."""

    content_type: str
    is_openmetrics: bool

    def head(self, name: str, kind: str, meaning: str) -> str:
        """The lines about a family: OpenMetrics names a counter without its suffix `_total`."""
        family = name.removesuffix("_total") if self.is_openmetrics and kind == "counter" else name
        return f"# HELP {family} {meaning}\n# TYPE {family} {kind}\n"

    def comment(self, text: str) -> str:
        """A line that Prometheus skips; OpenMetrics has none."""
        return "" if self.is_openmetrics else f"# {text}\n"

    @property
    def end(self) -> str:
        """The last line."""
        return "# EOF\n" if self.is_openmetrics else ""


PLAIN = TextFormat(CONTENT_TYPE_PLAIN_0_0_4, is_openmetrics=False)
OPENMETRICS = TextFormat(CONTENT_TYPE_LATEST, is_openmetrics=True)
_VERSIONS = {"application/openmetrics-text": ("", "1.0.0"), "text/plain": ("", "0.0.4"), "text/*": ("",), "*/*": ("",)}


def negotiate(accept: str) -> TextFormat:
    """The format that an Accept header prefers; 0.0.4 if it names none of the two."""
    weights = dict.fromkeys(_VERSIONS, 0.0)
    for part in accept.split(","):
        media, *given = (item.strip() for item in part.split(";"))
        parameters = dict(item.split("=", 1) for item in given if "=" in item)
        if parameters.get("version", "") in _VERSIONS.get(media, ()):
            weights[media] = max(weights[media], _weight(parameters.get("q", "1")))
    openmetrics = weights.pop("application/openmetrics-text")
    return OPENMETRICS if openmetrics and openmetrics >= max(weights.values()) else PLAIN


def _weight(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return 0.0


def pairs(labels: Sequence[tuple[str, str]]) -> str:
    """Label pairs in braces; "" if there are none."""
    return "{" + ",".join(f'{name}="{escape(value)}"' for name, value in labels) + "}" if labels else ""


def escape(value: str) -> str:
    """A label value as it is written between quotes."""
    return value.translate(_ESCAPES)


def extended(labels: str, *more: tuple[str, str]) -> str:
    """Label pairs in braces, and more of them."""
    return labels[:-1] + "," + pairs(more)[1:] if labels else pairs(more)


def series(labels: Sequence[str], values: NDArray[Any], known: Flags | None = None) -> Samples:
    """The samples with a known value; `known` is bool[n], by default what is not UNKNOWN or NaN. `values` is [n]."""
    if known is None:
        known = ~np.isnan(values) if values.dtype.kind == "f" else values != UNKNOWN
    if known.all():
        return zip(labels, numbers(values), strict=True)
    return zip(compress(labels, known.tolist()), numbers(values[known]), strict=True)


def numbers(values: NDArray[Any]) -> list[str]:
    """Each value as text: integers, or floats with NaN and +Inf."""
    return (
        list(map(number, values.tolist())) if values.dtype.kind == "f" else list(map(str, values.astype(int).tolist()))
    )


def number(value: float) -> str:
    """A float as text."""
    if value != value:
        return "NaN"
    return {float("inf"): "+Inf", float("-inf"): "-Inf"}.get(value) or repr(value)


def lines(name: str, samples: Samples) -> Iterator[str]:
    """The lines of a family."""
    return (f"{name}{labels} {value}\n" for labels, value in samples)
