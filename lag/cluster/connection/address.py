"""`host:port`, as in bootstrap.servers and in error messages."""

import re
from typing import NamedTuple

_HOST = r"[\w-]{1,63}(?:\.[\w-]{1,63})*\.?"
_SERVER = re.compile(
    rf"(?:[A-Z_]+://)?(?:\[(?P<six>[0-9a-fA-F:]+(?:[.%][\w.]+)?)\]|(?P<host>{_HOST})):(?P<port>\d{{1,5}})", re.ASCII
)


class Address(NamedTuple):
    """One broker address; str() puts an IPv6 host in brackets."""

    host: str
    port: int

    def __str__(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


def parse_addresses(text: str) -> tuple[Address, ...]:
    """The addresses of a comma-separated list, in order, without duplicates. Raises ValueError for a wrong one."""
    parts = [part.strip() for part in text.split(",") if part.strip()]
    return tuple(dict.fromkeys(_address(part) for part in parts))


def _address(text: str) -> Address:
    match = _SERVER.fullmatch(text)
    if match is None or not 1 <= int(match["port"]) <= 65535:
        raise ValueError(f"{text!r} is not an address; write host:port, for IPv6 [address]:port")
    return Address(match["six"] or match["host"], int(match["port"]))
