"""Two I/O threads need the same message class, or its decoder, for the first time: what they make serves both."""

import gc
import threading
from collections.abc import Callable, Iterator
from typing import Any

import kafka.protocol.schemas.fields.struct as kafka_struct
import pytest
from kafka.protocol.admin import ListTransactionsResponse
from kafka.protocol.api_header import RequestHeader, ResponseClassRegistry
from kafka.protocol.schemas.fields.codegen import CodegenContext

from lag.cluster.connection.connect import open_manager
from lag.cluster.connection.settings import load_settings
from lag.errors import ConnectError
from tests.lag.cluster.connection.strangers import free_port

VERSION = 1
MEETING_S = 0.5
"""How long one thread waits for the other, which does not come while only one builds."""


class _Meeting:
    """Two threads meet at `here`; the `last` to go on (0: the one that came first) waits until the other is done."""

    def __init__(self, last: int) -> None:
        self._both, self._last, self._other_is_done = threading.Barrier(2), last, threading.Event()

    def here(self) -> None:
        try:
            number = self._both.wait(MEETING_S)
        except threading.BrokenBarrierError:
            return
        if number == self._last:
            self._other_is_done.wait(MEETING_S)

    def run(self, work: Callable[[], object]) -> None:
        def once() -> None:
            work()
            self._other_is_done.set()

        threads = [threading.Thread(target=once) for _ in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()


@pytest.fixture
def unused() -> Iterator[None]:
    """The version of an answer that no test asks for, as in a new process."""
    with pytest.raises(ConnectError):  # whatever comes of it, kafka-python is then safe
        open_manager(load_settings(f"127.0.0.1:{free_port()}", None, {}))
    _forget()
    yield
    _forget()
    ListTransactionsResponse[VERSION]  # registered again by its class, which the module keeps


def _forget() -> None:
    ListTransactionsResponse._VERSIONS.pop(VERSION, None)
    ListTransactionsResponse._struct._compiled_encoders.clear()
    gc.collect()


def _answer() -> memoryview:
    made = ListTransactionsResponse(error_code=7, version=VERSION)
    made.unknown_state_filters, made.transaction_states = [], []
    return memoryview(bytes(made.encode()))


def test_a_class_that_two_threads_need_at_once_stays_registered(unused: None, monkeypatch: pytest.MonkeyPatch) -> None:
    meeting, register = _Meeting(last=0), ResponseClassRegistry.register_response_class

    def registered(_: object, response_class: Any) -> None:
        register(response_class)
        meeting.here()

    with monkeypatch.context() as patched:
        patched.setattr(ResponseClassRegistry, "register_response_class", classmethod(registered))
        meeting.run(lambda: ListTransactionsResponse[VERSION])
    gc.collect()
    header = RequestHeader(request_api_key=ListTransactionsResponse.API_KEY, request_api_version=VERSION)
    assert header.get_response_class() is ListTransactionsResponse[VERSION]


def test_a_decoder_that_two_threads_need_at_once_decodes(unused: None, monkeypatch: pytest.MonkeyPatch) -> None:
    meeting, answer = _Meeting(last=1), _answer()

    def generating() -> CodegenContext:
        meeting.here()
        return CodegenContext()

    with monkeypatch.context() as patched:
        patched.setattr(kafka_struct, "CodegenContext", generating)
        meeting.run(lambda: ListTransactionsResponse[VERSION].decode(answer))
    assert ListTransactionsResponse[VERSION].decode(answer).error_code == 7
