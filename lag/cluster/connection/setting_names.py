"""The names of Kafka's client settings: aliases, settings without effect here, and unsupported ones.

Sources: Kafka 4.3 `AdminClientConfig`, `ConsumerConfig`, `ProducerConfig`; for aliases librdkafka's configuration.
"""

from assignors.spelling import closest

ALIASES = {
    "metadata.broker.list": "bootstrap.servers",
    "sasl.mechanisms": "sasl.mechanism",
    "ssl.ca.location": "ssl.truststore.location",
    "ssl.ca.pem": "ssl.truststore.certificates",
    "ssl.certificate.pem": "ssl.keystore.certificate.chain",
    "ssl.key.pem": "ssl.keystore.key",
    "sasl.oauthbearer.client.id": "sasl.oauthbearer.client.credentials.client.id",
    "sasl.oauthbearer.client.secret": "sasl.oauthbearer.client.credentials.client.secret",
}
"""librdkafka's spelling of a setting -> Kafka's."""

_WITHOUT_EFFECT = """
acks allow.auto.create.topics auto.commit.interval.ms auto.offset.reset batch.size buffer.memory check.crcs
client.dns.lookup client.rack compression.gzip.level compression.lz4.level compression.type compression.zstd.level
connections.max.idle.ms debug default.api.timeout.ms delivery.timeout.ms enable.auto.commit enable.idempotence
enable.metrics.push exclude.internal.topics fetch.max.bytes fetch.max.wait.ms fetch.min.bytes group.id group.instance.id
group.protocol group.remote.assignor heartbeat.interval.ms interceptor.classes
internal.throw.on.fetch.stable.offset.unsupported isolation.level key.deserializer key.serializer linger.ms max.block.ms
max.in.flight.requests.per.connection max.partition.fetch.bytes max.poll.interval.ms max.poll.records max.request.size
metadata.max.age.ms metadata.max.idle.ms metadata.recovery.rebootstrap.trigger.ms metadata.recovery.strategy
metric.reporters metrics.num.samples metrics.recording.level metrics.sample.window.ms partition.assignment.strategy
partitioner.adaptive.partitioning.enable partitioner.availability.timeout.ms partitioner.class partitioner.ignore.keys
receive.buffer.bytes reconnect.backoff.max.ms reconnect.backoff.ms retries retry.backoff.max.ms retry.backoff.ms
sasl.kerberos.kinit.cmd sasl.kerberos.min.time.before.relogin sasl.kerberos.ticket.renew.jitter
sasl.kerberos.ticket.renew.window.factor sasl.login.class sasl.login.connect.timeout.ms sasl.login.read.timeout.ms
sasl.login.refresh.buffer.seconds sasl.login.refresh.min.period.seconds sasl.login.refresh.window.factor
sasl.login.refresh.window.jitter sasl.login.retry.backoff.max.ms sasl.login.retry.backoff.ms
sasl.oauthbearer.clock.skew.seconds sasl.oauthbearer.expected.audience sasl.oauthbearer.expected.issuer
sasl.oauthbearer.header.urlencode sasl.oauthbearer.jwks.endpoint.refresh.ms
sasl.oauthbearer.jwks.endpoint.retry.backoff.max.ms sasl.oauthbearer.jwks.endpoint.retry.backoff.ms
sasl.oauthbearer.jwks.endpoint.url sasl.oauthbearer.jwt.retriever.class sasl.oauthbearer.jwt.validator.class
sasl.oauthbearer.method sasl.oauthbearer.scope.claim.name sasl.oauthbearer.sub.claim.name security.providers
send.buffer.bytes session.timeout.ms share.acknowledgement.mode share.acquire.mode
socket.connection.setup.timeout.max.ms ssl.cipher.suites ssl.enabled.protocols ssl.engine.factory.class
ssl.keymanager.algorithm ssl.protocol ssl.provider ssl.secure.random.implementation ssl.trustmanager.algorithm
transaction.timeout.ms transaction.two.phase.commit.enable transactional.id value.deserializer value.serializer
"""

IGNORED = frozenset(_WITHOUT_EFFECT.split())
"""Settings of Kafka without effect on how groupscope reads a cluster."""

UNSUPPORTED = {
    "bootstrap.controllers": "Name brokers in bootstrap.servers; controllers do not manage consumer groups.",
    "config.providers": "Write the values into the file, or set environment variables (GROUPSCOPE_SASL_PASSWORD, ...).",
    "sasl.oauthbearer.assertion.file": "Use a client id and secret, or a token file (file://... as token endpoint).",
    "sasl.oauthbearer.assertion.private.key.file": "Use a client id and secret, or a token file.",
}
"""Settings of Kafka that a connection depends on and that groupscope does not support: key -> what to do instead."""


def nearest(key: str, known: frozenset[str]) -> str | None:
    """The known key that is most similar to `key`; None if none is similar."""
    return closest(key.lower(), sorted(known), similarity=0.75)
