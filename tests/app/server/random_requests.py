"""Requests that are nearly right, or not right at all, from a seed."""

import json
from random import Random
from typing import Any
from urllib.parse import quote

from app.server.api.openapi import PREFIX
from app.server.api.routes import ENDPOINTS
from assignors.scenario import examples
from tests.app.server.client import Request

JSON, YAML = "application/json", "application/yaml"
NUMBERS = (True, -1, 0, 0.5, 3, 700, 1e308, float("nan"), float("-inf"), 2**31, 2**63, 10**400)
VALUES: tuple[Any, ...] = (
    None,
    *NUMBERS,
    "",
    "a",
    "t",
    "5s",
    "0",
    "sticky",
    "é\u202e",
    "\ud800",
    [],
    {},
    ["t", "a"],
    {"t": 3},
)
LONG: tuple[Any, ...] = ("x" * 70_000, ["x"] * 2_000, {str(at): at for at in range(2_000)})
NAMES = ("demo", "billing", "reports", "orders", "nowhere", "", "..", "%", "ö/ä", "\x00", "\ud800", "a" * 40_000)
NOT_JSON = (
    b"",
    b"\xff\xfe\x00",
    b"[" * 100_000,
    b'{"a":' * 50_000,
    b"9" * 100_000,
    b"- " * 50_000,
    b"a: &a [*a]",
    b"!!python/object/apply:os.system [id]",
    b"? " * 5_000,
    b"\xef\xbb\xbf{}",
    "{}".encode("utf-16"),
)
SCENARIO: Any = {
    "schema_version": 1,
    "name": "two",
    "assignor": "range",
    "topics": [{"name": "t", "partitions": 2}],
    "members": [{"id": "a", "topics": ["t"], "owned": {"t": [0, 1]}, "generation": 1}],
    "events": [{"at": "5s", "join": {"id": "b", "topics": ["t"]}}, {"at": 9000, "crash": "a"}],
    "protocol": {"session.timeout.ms": 9000},
}
ADVICE: Any = {"kind": "consumer", "properties": "a=b\nsession.timeout.ms=1\n", "workload": {"batch_ms": 1}}
TOOL_CALLS: Any = [
    {"name": name, "arguments": arguments}
    for name, arguments in (
        ("list_groups", {"sort": "urgency", "limit": 2}),
        ("why", {"group": "reports", "limit": 2}),
        ("lag", {"cluster": "demo", "group": "billing", "topic": "orders"}),
        ("generations", {"group": "billing", "offset": 1}),
        ("what_if", {"group": "billing", "events": [{"at": "5s", "leave": "m1"}], "assignor": ["sticky"]}),
        ("simulate", {"scenario": SCENARIO, "protocol": ["eager"], "seed": 1}),
        ("advise", ADVICE),
    )
]
MCP_HEADERS = {"Host": "127.0.0.1:8501", "Content-Type": JSON, "Accept": f"{JSON}, text/event-stream"}


def random_request(random: Random) -> Request:
    """One request."""
    return random.choice((_get, _burrow, _post, _post, _post, _tool_call))(random)


def _get(random: Random) -> Request:
    endpoint = random.choice([each for each in ENDPOINTS if each.body is None and "stream" not in each.path])
    path = PREFIX + endpoint.path.format(cluster=_name(random), group=_name(random))
    names = [*endpoint.query.model_fields, "unknown"]
    query = "&".join(f"{random.choice(names)}={_text(random)}" for _ in range(random.randrange(4)))
    return Request("GET", path, query, headers={"If-None-Match": random.choice(("*", '"x"', ""))})


def _burrow(random: Random) -> Request:
    parts = random.choice((("topic",), ("consumer",), ("topic", "?"), ("consumer", "?"), ("consumer", "?", "lag")))
    path = "/".join(_name(random) if part == "?" else part for part in ("/v3/kafka", "?", *parts))
    return Request("GET", path, _text(random))


def _post(random: Random) -> Request:
    path, its = random.choice((("/what-if", SCENARIO), ("/simulate", SCENARIO), ("/advice", ADVICE)))
    kind = random.choice((JSON, JSON, JSON, YAML, "text/plain", ""))
    body = _yaml(random) if kind == YAML and random.random() < 0.3 else _body(random, its)
    query = f"seed={_text(random)}" if random.random() < 0.1 else ""
    return Request("POST", PREFIX + path, query, body, {"Content-Type": kind})


def _tool_call(random: Random) -> Request:
    call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": random.choice(TOOL_CALLS)}
    return Request("POST", "/mcp", body=_body(random, call), headers=MCP_HEADERS)


def _body(random: Random, its: Any) -> bytes:
    """Something else than JSON, or the document with some values replaced, or with some bytes of it changed."""
    if random.random() < 0.1:
        return random.choice((*NOT_JSON, random.randbytes(random.randrange(300))))
    for _ in range(random.randrange(3)):
        its = _changed(random, its)
    body = json.dumps(its).encode()
    return _damaged(random, body) if random.random() < 0.3 else body


def _yaml(random: Random) -> bytes:
    return _damaged(random, examples()["checkout-scales-out"].read_bytes())


def _changed(random: Random, its: Any) -> Any:
    """The document with one value, anywhere in it, replaced, removed or added."""
    if isinstance(its, dict) and its and random.random() < 0.8:
        key = random.choice(list(its))
        left = {name: value for name, value in its.items() if name != key or random.random() < 0.9}
        return {**left, random.choice((key, key, key, "new")): _changed(random, its[key])}
    if isinstance(its, list) and its and random.random() < 0.8:
        at = random.randrange(len(its))
        return [*its[:at], _changed(random, its[at]), *its[at + random.randrange(2) :]]
    return random.choice(LONG if random.random() < 0.05 else VALUES)


def _damaged(random: Random, body: bytes) -> bytes:
    at = random.randrange(len(body))
    return body[:at] + random.randbytes(random.randrange(4)) + body[at + random.randrange(9) :]


def _name(random: Random) -> str:
    return quote(random.choice(NAMES), safe="", errors="surrogatepass")


def _text(random: Random) -> str:
    text = str(random.choice((*VALUES, *NAMES[:-1], "1", "10", "2026-11-25T08:00:00Z")))
    return quote(text[:500], errors="surrogatepass")
