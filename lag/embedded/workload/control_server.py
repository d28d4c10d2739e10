"""Serves the panel's actions on a loopback port with a key: one JSON document for each request and answer."""

import json
import logging
import threading
from collections.abc import Callable, Mapping
from multiprocessing import AuthenticationError
from multiprocessing.connection import Connection, Listener, answer_challenge, deliver_challenge
from typing import Any

from lag.errors import EmbeddedError

log = logging.getLogger(__name__)

MAX_BYTES = 65_536

Act = Callable[[str, Mapping[str, Any]], Any]


class ControlServer:
    """Serves `act(action, arguments)` to clients that know the key. Nothing is unpickled."""

    def __init__(self, key: bytes, act: Act) -> None:
        self._key, self._act = key, act
        self._listener = Listener(("127.0.0.1", 0))

    @property
    def port(self) -> int:
        """The port it listens on."""
        return int(self._listener.address[1])

    def run(self) -> None:
        """Serve until the process ends; each client has a thread, so a silent client does not block others."""
        while True:
            connection = self._listener.accept()
            threading.Thread(target=self._serve, args=(connection,), name="controls", daemon=True).start()

    def _serve(self, connection: Connection) -> None:
        with connection:
            try:
                deliver_challenge(connection, self._key)
                answer_challenge(connection, self._key)
                connection.send_bytes(self._answer(connection.recv_bytes(MAX_BYTES)))
            except (AuthenticationError, EOFError, OSError) as error:
                log.warning("a client was refused: %s", error)

    def _answer(self, request: bytes) -> bytes:
        try:
            asked = json.loads(request)
            answer = {"done": self._act(asked["action"], asked["arguments"])}
        except EmbeddedError as error:
            answer = {"cause": error.cause, "hint": error.hint}
        except (ValueError, KeyError, TypeError) as error:
            answer = {"cause": f"The request is not valid: {error!r}", "hint": ""}
        return json.dumps(answer).encode()
