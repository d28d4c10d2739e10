"""Topic ids: the broker's assignors hash and sort topics by them, not by name."""

from base64 import urlsafe_b64decode, urlsafe_b64encode
from binascii import Error as Base64Error
from functools import lru_cache
from hashlib import sha256
from uuid import UUID

from assignors.layout import java_order
from assignors.model import AssignorError, Topic

_BASE64_LENGTH = 22


def topic_uuid(topic: Topic) -> UUID:
    """The topic's id, from Kafka's spelling (22 characters of base64) or the usual one (hexadecimal).

    Without an id it derives from the name: the first half of the SHA-256 of its UTF-16 code units, as a version 4
    UUID. It is the same on every machine, but no real cluster has it, and real assignments depend on the real ids.
    Raises AssignorError on a text that is not a UUID.

    >>> topic_uuid(Topic("orders", 3, topic_id="q6lCBgVqOKRKTHAPNzudtg"))
    UUID('aba94206-056a-38a4-4a4c-700f373b9db6')
    >>> topic_uuid(Topic("orders", 3))
    UUID('142265b8-7b32-4ee0-a7f1-6d9836042013')
    """
    return _uuid(topic.name, topic.topic_id)


@lru_cache(maxsize=65536)
def _uuid(name: str, text: str | None) -> UUID:
    if text is None:
        return UUID(bytes=sha256(java_order(name)).digest()[:16], version=4)
    try:
        if len(text) == _BASE64_LENGTH:
            return UUID(bytes=urlsafe_b64decode(text + "=="))
        return UUID(text)
    except (ValueError, Base64Error) as error:
        hint = "Give the 22 characters that Kafka prints, or a UUID."
        raise AssignorError(f"Topic {name!r} has {text!r} for a topic id. {hint}") from error


def kafka_text(uuid: UUID) -> str:
    """The id as Kafka prints it.

    >>> kafka_text(UUID("aba94206-056a-38a4-4a4c-700f373b9db6"))
    'q6lCBgVqOKRKTHAPNzudtg'
    """
    return urlsafe_b64encode(uuid.bytes).rstrip(b"=").decode()
