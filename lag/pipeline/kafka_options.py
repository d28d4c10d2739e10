"""Our connection settings as options of Kafka's Java client, which Spark uses."""

from pathlib import Path

from pydantic import SecretStr

from lag.cluster.connection.credentials import PasswordLogin, login
from lag.cluster.connection.settings import Settings
from lag.errors import ConfigError

_MODULES = {
    "PLAIN": "org.apache.kafka.common.security.plain.PlainLoginModule",
    "SCRAM-SHA-256": "org.apache.kafka.common.security.scram.ScramLoginModule",
    "SCRAM-SHA-512": "org.apache.kafka.common.security.scram.ScramLoginModule",
}
_SAME = (
    "ssl.truststore.location", "ssl.truststore.password", "ssl.truststore.type", "ssl.truststore.certificates",
    "ssl.keystore.location", "ssl.keystore.password", "ssl.keystore.type", "ssl.keystore.key",
    "ssl.keystore.certificate.chain", "ssl.key.password", "ssl.endpoint.identification.algorithm",
)  # fmt: skip
_FETCH_WAIT_MS = "10"
"""Spark reads up to an offset that exists, so no fetch needs to wait for records. But the consumer prefetches: at the
end of a partition a fetch would wait the default 500 ms, and the next request on the connection waits behind it, for
each of the fifty partitions of `__consumer_offsets`."""
_POLL_RECORDS = "5000"
"""After each poll Spark requests the end offsets of the partition. With the default of 500 records these requests take
as long as everything else. Polled records stay in memory until they are read."""


def kafka_options(settings: Settings) -> dict[str, str]:
    """Options of Spark's Kafka source. Raises ConfigError for a login that the pipeline does not support."""
    options = {
        "bootstrap.servers": settings.servers.replace(" ", ""),
        "security.protocol": settings.security_protocol,
        **(_tls(settings) if settings.uses_tls else {}),
        **_sasl(settings),
        "fetch.max.wait.ms": _FETCH_WAIT_MS,
        "max.poll.records": _POLL_RECORDS,
    }
    return {f"kafka.{key}": value for key, value in options.items()}


def _tls(settings: Settings) -> dict[str, str]:
    fields = {info.alias: getattr(settings, name) for name, info in Settings.model_fields.items()}
    options = {key: _plain(fields[key]) for key in _SAME if fields[key] is not None}
    for store, file in (("truststore", settings.truststore), ("keystore", settings.keystore)):
        if file is not None and f"ssl.{store}.type" not in options:
            options[f"ssl.{store}.type"] = _store_type(file)
    # options of librdkafka that Java does not have
    if settings.certificate_file is not None and settings.key_file is not None:
        options["ssl.keystore.type"] = "PEM"
        options["ssl.keystore.certificate.chain"] = settings.certificate_file.read_text()
        options["ssl.keystore.key"] = settings.key_file.read_text()
    return options


def _plain(value: object) -> str:
    return value.get_secret_value() if isinstance(value, SecretStr) else str(value)


def _store_type(file: Path) -> str:
    """Java needs the type of a PEM file to be set; it is detected from the content."""
    return "PEM" if b"-----BEGIN" in file.read_bytes() else "PKCS12"


def _sasl(settings: Settings) -> dict[str, str]:
    who = login(settings)
    if who is None:
        return {}
    if not isinstance(who, PasswordLogin):
        raise ConfigError(
            f"The pipeline cannot log in with {settings.sasl_mechanism}",
            "Give it a user with SCRAM or PLAIN, or a client certificate",
        )
    mechanism = str(settings.sasl_mechanism)
    return {
        "sasl.mechanism": mechanism,
        "sasl.jaas.config": f"{_MODULES[mechanism]} required username={_quoted(who.username)} "
        f"password={_quoted(who.password.get_secret_value())};",
    }


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
