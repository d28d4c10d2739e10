"""The definition of a setting (Kafka: ConfigDef, its types and validators)."""

import re
from dataclasses import dataclass
from enum import StrEnum

from assignors.advice.offset_reset import reset_duration_ms

BY_DURATION = "by_duration:PnDTnHnMn.nS"
"""One of the words of a setting: any duration."""

_TRIMMED = "".join(map(chr, range(ord(" ") + 1)))
_WHOLE = re.compile(r"([+-]?)0*(\d{1,19})")
_DECIMAL = re.compile(r"([+-]?(?:NaN|Infinity|(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?))[fFdD]?", re.ASCII)
_LAST_OF_ONE_CHAR = "\uffff"


class Type(StrEnum):
    """The types of Kafka's settings."""

    BOOLEAN = "BOOLEAN"
    STRING = "STRING"
    INT = "INT"
    SHORT = "SHORT"
    LONG = "LONG"
    DOUBLE = "DOUBLE"
    LIST = "LIST"
    CLASS = "CLASS"
    PASSWORD = "PASSWORD"


_BITS = {Type.SHORT: 15, Type.INT: 31, Type.LONG: 63}


@dataclass(frozen=True, slots=True)
class Definition:
    """Type, default, inclusive bounds or allowed words of a setting; None or () if Kafka has none.

    Only numbers, booleans and words have a `default` here. `any_case`: words are case-insensitive. `nonempty`: an empty
    text or list is refused.
    """

    type: Type
    default: int | float | str | None = None
    least: float | None = None
    most: float | None = None
    words: tuple[str, ...] = ()
    any_case: bool = False
    nonempty: bool = False

    @property
    def is_whole(self) -> bool:
        """Whether its values are whole numbers."""
        return self.type in _BITS

    def takes(self, text: str) -> bool:
        """Whether Kafka accepts the value. Whether a class exists is not checked."""
        text = text.strip(_TRIMMED)
        match self.type:
            case Type.BOOLEAN:
                return text.lower() in ("true", "false")
            case Type.STRING:
                return self._is_word(text) and bool(text or not self.nonempty)
            case Type.LIST:
                items = re.split(r"\s*,\s*", text, flags=re.ASCII) if text else []
                return all(item and self._is_word(item) for item in items) and bool(items or not self.nonempty)
            case Type.CLASS | Type.PASSWORD:
                return True
        number = self._number(text)
        return number is not None and not self._is_outside(number)

    def whole(self, text: str) -> int | None:
        """The value as an integer of the type, also out of bounds; None if it is not one."""
        text = text.strip(_TRIMMED)
        found = _WHOLE.fullmatch(text)
        if found is None or max(text) > _LAST_OF_ONE_CHAR:
            return None
        number, most = int(found[1] + found[2]), 2 ** _BITS[self.type]
        return number if -most <= number < most else None

    @property
    def asked(self) -> str:
        """The accepted values, as text: "a number of type INT, at least 1"."""
        if self.type is Type.BOOLEAN:
            return "true or false"
        if self.words:
            *others, last = self.words
            return f"{', '.join(others)} or {last}"
        if self.type in (Type.STRING, Type.LIST):
            return "values that are not empty"
        return f"a number of type {self.type}{self._bounds()}"

    def _bounds(self) -> str:
        if self.least is None:
            return ""
        return f", at least {self.least:g}" if self.most is None else f", {self.least:g} to {self.most:g}"

    def _number(self, text: str) -> float | None:
        if self.is_whole:
            return self.whole(text)
        found = _DECIMAL.fullmatch(text)
        return float(found[1]) if found else None

    def _is_outside(self, number: float) -> bool:
        return (self.least is not None and number < self.least) or (self.most is not None and number > self.most)

    def _is_word(self, text: str) -> bool:
        if BY_DURATION in self.words and text.startswith("by_duration:"):
            return reset_duration_ms(text) is not None
        if self.any_case:
            return text.upper() in map(str.upper, self.words)
        return not self.words or text in self.words
