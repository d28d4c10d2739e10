"""The settings of a client script (Kafka: ConsumerConfig)."""

from assignors.advice.config_def import Definition, Type
from assignors.advice.config_table import CONSUMER
from assignors.labs.calls.script_machine import Refusal

KIB, MIB = 1024, 1024 * 1024
_USED = (
    *("enable.auto.commit", "auto.commit.interval.ms", "auto.offset.reset", "max.poll.records", "fetch.max.bytes"),
    *("max.partition.fetch.bytes", "isolation.level", "metadata.max.age.ms"),
)
_DEFINITIONS = {
    "group.id": CONSUMER["group.id"],
    **{name: CONSUMER[name] for name in _USED},
    "message.max.bytes": Definition(Type.INT, MIB + 12, least=0),
}
CONFIG = {name: str(definition.default) for name, definition in _DEFINITIONS.items()} | {"group.id": "billing"}
"""Settings with Kafka's defaults; the last one is the broker's. Kafka has no default for group.id."""


def checked(name: str, value: str) -> str:
    """The value. Raises Refusal where Kafka refuses it."""
    if not _DEFINITIONS[name].takes(value):
        raise Refusal("ConfigException", f"invalid value {value[:40]} for configuration {name}")
    return value.lower() if _DEFINITIONS[name].type is Type.BOOLEAN else value
