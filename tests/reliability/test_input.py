"""Many visitors, and input that nobody expects, at a dashboard that goes on polling."""

import http.client
import random
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from functools import partial
from itertools import pairwise
from pathlib import Path
from urllib.parse import quote, urlsplit

import pytest
from hypothesis import HealthCheck, given, settings

from app.pages import PAGES
from assignors import load_scenario
from assignors.scenario.problems import ScenarioError
from lag.cluster.connection.properties import parse_properties
from lag.errors import GroupscopeError
from lag.records import BytesColumn, decode
from tests.app.server.client import Request
from tests.app.server.random_requests import random_request
from tests.app.views.test_any_link import NASTY, PARAMETERS
from tests.lag.cluster.connection.test_properties import SYNTAX
from tests.lag.records.test_random_bytes import RECORDS
from tests.reliability import rows
from tests.reliability.bench import Bench, Fault, anything, nothing, today
from tests.reliability.brokers import Cluster
from tests.reliability.dashboard import dashboard
from tests.reliability.faults import ORDER
from tests.reliability.truth import Truth
from tests.support.browser_sessions import OpenPages, Session
from tests.support.waiting import wait_until

pytestmark = [pytest.mark.reliability, pytest.mark.timeout(1_800)]

SESSIONS = 50
USUAL_S = 10
LOOKS = 1_800
"""Three a second: ten minutes."""
LINKS = 200
BODIES = 1_500
SCENARIOS, PROPERTIES, EXAMPLES = 30_000, 50_000, 4_000
REFUSED_OR_BUSY = {429, 503, 504}


def shown_pages() -> list[str]:
    """The addresses of pages that a visitor may open."""
    return ["" if info is PAGES[0] else info.name for info in PAGES]


@pytest.fixture
def usual(three: Cluster, truth: Truth, tmp_path: Path) -> Iterator[Bench]:
    """A dashboard that polls as often as it does by default: each poll draws every open page again."""
    with dashboard(tmp_path / "output", three.client_file, tmp_path / "history", interval_s=USUAL_S) as shown:
        yield Bench(three, truth, shown)


def test_50_browser_sessions(usual: Bench) -> None:
    bench = usual
    pages = random.choices(["", "about", "topics", "history", "group?group=parked"], k=SESSIONS)
    sessions = [session_of(bench.dashboard.url, page) for page in pages]
    with ExitStack() as stack:
        opened = OpenPages(sessions)

        began_s: list[float] = []

        def open_all() -> None:
            began_s.append(time.monotonic())
            stack.enter_context(opened)
            wait_until(lambda: opened.opened == SESSIONS, 300)

        def remark() -> str:
            runs = sum(session.runs for session in sessions)
            stayed_s = round(bench.dashboard.looks[-1].at_s - began_s[0])
            pace = f"polls {median_step(bench):.1f} s apart (median; asked for: {USUAL_S})"
            return f"; {runs:,} runs of pages in {stayed_s} s; {pace}"

        made = f"{SESSIONS} sessions over WebSockets, each with a page that follows the polls"
        bench.row(Fault("50 browser sessions", made, open_all, stack.close, anything, LOOKS, remark))
    assert [message for session in sessions for message in session.exceptions] == []
    assert sum(session.broken for session in sessions) == 0


def session_of(url: str, page: str) -> Session:
    """The session of an address such as `group?group=parked`."""
    path, _, query = page.partition("?")
    return Session(url, path, query)


def median_step(bench: Bench) -> float:
    """Seconds between two polls of the last looks."""
    times = sorted({look.poll_ms for look in bench.dashboard.looks[-LOOKS:]})
    steps = sorted(later - earlier for earlier, later in pairwise(times))
    return steps[len(steps) // 2] / 1000


def test_random_links(bench: Bench) -> None:
    dice = random.Random()
    sessions = [Session(bench.dashboard.url, dice.choice(shown_pages()), random_query(dice)) for _ in range(LINKS)]

    def open_them() -> None:
        for first in range(0, LINKS, 10):
            some = sessions[first : first + 10]
            with OpenPages(some) as opened:
                wait_until(partial(all_opened, opened), 120)

    made = f"{LINKS} links to any page, half of the parameters with values such as 1e999, 20,000 letters, markup"
    bench.row(Fault("Random links", made, open_them, nothing, anything, 1))
    assert [message for session in sessions for message in session.exceptions] == []


def all_opened(pages: OpenPages) -> bool:
    """Each page has run once."""
    return pages.opened == len(pages.sessions)


def random_query(dice: random.Random) -> str:
    """Values that nobody expects, for half of the parameters."""
    values = [value[:20_000] for value in NASTY.values()]
    chosen = [(name, dice.choice(values)) for name in PARAMETERS if dice.random() < 0.5]
    return "&".join(f"{name}={quote(value)}" for name, value in chosen)


def test_random_api_bodies(bench: Bench) -> None:
    dice, answers = random.Random(), Counter[int]()

    def ask() -> None:
        for _ in range(BODIES):
            answers[status(bench.dashboard.url, random_request(dice))] += 1

    def remark() -> str:
        return "; answers: " + ", ".join(f"{number:,} × {code}" for code, number in answers.most_common())

    made = f"{BODIES:,} requests to API, Burrow's addresses and tools, with damaged or absurd values and bodies"
    bench.row(Fault("Random API bodies", made, ask, nothing, anything, 1, remark))
    assert [code for code in answers if code >= 500 and code not in REFUSED_OR_BUSY] == []


def status(url: str, asked: Request) -> int:
    """That of the answer, over a connection of its own."""
    with closing(http.client.HTTPConnection(urlsplit(url).netloc, timeout=60)) as server:
        path = f"{asked.path}?{asked.query}" if asked.query else asked.path
        server.request(asked.method, path, asked.body or None, dict(asked.headers or {}))
        answer = server.getresponse()
        answer.read()
        return answer.status


def test_random_scenario_files() -> None:
    made = f"{SCENARIOS:,} files with values replaced, removed or added, or bytes changed"
    read = Counter(outcome(load_scenario, text, ScenarioError) for text in scenario_files(SCENARIOS))
    keep("Random scenario files", made, read)


def scenario_files(count: int) -> Iterator[bytes]:
    """Bodies of what-ifs and simulations."""
    dice = random.Random()
    while count:
        asked = random_request(dice)
        if asked.path.endswith(("/what-if", "/simulate")):
            count -= 1
            yield asked.body


def test_random_properties() -> None:
    dice = random.Random()
    texts = ("".join(dice.choices(SYNTAX, k=dice.randrange(60))) for _ in range(PROPERTIES))
    made = f"{PROPERTIES:,} texts of what means something in a client.properties"
    keep("Random properties", made, Counter(outcome(parse_properties, text, GroupscopeError) for text in texts))


def test_random_records() -> None:
    counted = Counter[str]()

    @settings(max_examples=EXAMPLES, database=None, derandomize=False, suppress_health_check=list(HealthCheck))
    @given(RECORDS)
    def read(records: list[tuple[bytes | None, bytes | None]]) -> None:
        decoded = decode(BytesColumn.of(key for key, _ in records), BytesColumn.of(value for _, value in records))
        refused = len(decoded.errors) + len(decoded.unknown)
        counted.update({"refused": refused, "read": max(0, len(records) - refused)})

    read()
    keep("Random records", f"{counted.total():,} keys and values for the reader of `__consumer_offsets`", counted)


def outcome(read: Callable[[str], object], text: str | bytes, error: type[Exception]) -> str:
    """Whether it is read, or refused with a reason. Every other exception fails the test."""
    try:
        read(text.decode("utf-8", "replace") if isinstance(text, bytes) else text)
    except error:
        return "refused"
    return "read"


def keep(fault: str, made: str, counted: Counter[str]) -> None:
    """The row of what needs no dashboard."""
    seen = f"{counted['read']:,} read, {counted['refused']:,} refused with a reason, nothing else raised"
    rows.keep(rows.FaultRow(fault, made, seen, None, None, 0, 0, 0, True, today()), ORDER)
