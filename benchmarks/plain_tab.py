"""A tab of Chromium in which scripts run as fast as a person's.

Playwright's own pages have V8's debugger attached. With it, each exception that a script throws, though it catches it,
has V8 parse the script again for the lines of the stack: 0.4 s for the few that Plotly throws while it starts.
"""

import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from typing import Any

from playwright.sync_api import Browser, CDPSession

LOOK_EVERY_S = 0.2
LOOKS = 300


class PlainTab:
    """A tab without a debugger, driven by messages of the Chrome DevTools protocol."""

    def __init__(self, browser: CDPSession, session: str, script: str) -> None:
        self._browser = browser
        self._session = session
        self._ids = count(1)
        self._answers: dict[int | None, Any] = {}
        browser.on("Target.receivedMessageFromTarget", self._take)
        self._ask("Emulation.setDeviceMetricsOverride", width=1440, height=900, deviceScaleFactor=1, mobile=False)
        self._ask("Page.enable")
        self._ask("Page.addScriptToEvaluateOnNewDocument", source=script)

    def open(self, address: str) -> None:
        """Ask for the page, and wait until its first bytes are there."""
        self._ask("Page.navigate", url=address)

    def wait_for(self, expression: str) -> Any:
        """Its value, once it is true. TimeoutError after a minute."""
        for _ in range(LOOKS):
            answer = self._ask("Runtime.evaluate", expression=expression, returnByValue=True)
            if found := answer["result"].get("value"):
                return found
            time.sleep(LOOK_EVERY_S)
        raise TimeoutError(f"{expression} is still not true")

    def _ask(self, method: str, **params: Any) -> Any:
        number = next(self._ids)
        message = json.dumps({"id": number, "method": method, "params": params})
        self._browser.send("Target.sendMessageToTarget", {"sessionId": self._session, "message": message})
        for _ in range(10 * LOOKS):
            if number in self._answers:
                return self._answers.pop(number)["result"]
            time.sleep(LOOK_EVERY_S / 10)
            self._browser.send("Browser.getVersion")  # Playwright hands over events during its calls only
        raise TimeoutError(f"no answer to {method}")

    def _take(self, event: dict[str, Any]) -> None:
        message = json.loads(event["message"])
        self._answers[message.get("id")] = message


@contextmanager
def plain_tab(browser: Browser, script: str) -> Iterator[PlainTab]:
    """A tab in a new profile; `script` runs on each page before any of its own."""
    session = browser.new_browser_cdp_session()
    profile = session.send("Target.createBrowserContext")["browserContextId"]
    target = session.send("Target.createTarget", {"url": "about:blank", "browserContextId": profile})["targetId"]
    try:
        yield PlainTab(session, session.send("Target.attachToTarget", {"targetId": target})["sessionId"], script)
    finally:
        session.send("Target.disposeBrowserContext", {"browserContextId": profile})
        session.detach()
