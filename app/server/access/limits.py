"""Limits of what one client, and all clients together, may ask."""

import threading
import time
from collections import OrderedDict
from collections.abc import Callable

MOST_BODY_BYTES = 5_000_000
"""Of any request. Endpoints and uploads have their own, lower limits."""

MOST_SESSIONS = 400
"""Pages that are open at a time, in all browsers."""

BURST = 20
EVERY_S = 2.0
"""A client may start BURST expensive computations at once, then one every EVERY_S."""

MOST_CLIENTS = 10_000


class TokenBuckets:
    """A token bucket per client: it holds up to `burst` tokens and gets one every `every_s`. Thread safe.

    Of more than `most_clients` clients, the one that asked the longest ago is forgotten.
    """

    def __init__(
        self,
        burst: int = BURST,
        every_s: float = EVERY_S,
        clock_s: Callable[[], float] = time.monotonic,
        most_clients: int = MOST_CLIENTS,
    ) -> None:
        self._burst, self._every_s, self._clock_s, self._most = burst, every_s, clock_s, most_clients
        self._full_at_s: OrderedDict[str, float] = OrderedDict()
        self._lock = threading.Lock()

    def wait_s(self, client: str) -> float:
        """Take a token: 0. Without one: the time until there is one."""
        with self._lock:
            now_s = self._clock_s()
            full_at_s = max(self._full_at_s.pop(client, now_s), now_s)
            missing_s = full_at_s + self._every_s - now_s
            wait_s = max(0.0, missing_s - self._burst * self._every_s)
            self._full_at_s[client] = full_at_s if wait_s else full_at_s + self._every_s
            if len(self._full_at_s) > self._most:
                self._full_at_s.popitem(last=False)
        return wait_s


computations = TokenBuckets()
"""What-ifs, simulations, advice and sweeps of each client of this process."""
