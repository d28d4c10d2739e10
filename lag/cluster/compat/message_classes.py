"""kafka-python's message classes and decoders, built by one thread at a time.

Replaces `VersionSubscriptable.__getitem__` and `StructField.compiled_decode_from` by the same under a lock
(kafka-python 3.0.12), because kafka-python builds the class of a version and its decoder when the first answer comes,
and every cluster has an I/O thread of its own. If two of them build at once,

- the registry of answers may keep a weak reference to the class that is thrown away: from the next garbage collection
  on every answer of that kind raises ReferenceError;
- a decoder may be made with a weak reference to its class, and raises TypeError whenever it is used.

Either lasts as long as the process: its clusters can no longer be read.
"""

import threading
from typing import Any

from kafka.protocol.api_message import VersionSubscriptable
from kafka.protocol.schemas.fields.struct import StructField

_BUILDING = threading.RLock()
_class_of_version = VersionSubscriptable.__getitem__
_decoder = StructField.compiled_decode_from


def build_one_at_a_time() -> None:
    """From now on kafka-python builds under the lock."""
    VersionSubscriptable.__getitem__ = _class_of_version_alone
    StructField.compiled_decode_from = _decoder_alone


def _class_of_version_alone(message_class: Any, version: int | None) -> Any:
    with _BUILDING:
        return _class_of_version(message_class, version)


def _decoder_alone(struct: StructField, *arguments: Any, **options: Any) -> Any:
    with _BUILDING:
        return _decoder(struct, *arguments, **options)
