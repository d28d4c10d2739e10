"""The settings of Kafka 4.3.1 and their definitions, from its classes."""

from collections.abc import Mapping

from assignors.advice.config_def import BY_DURATION, Definition, Type

_WITHOUT_DEFAULT = {
    Type.STRING: """
        client.id client.rack group.id group.remote.assignor sasl.kerberos.kinit.cmd sasl.kerberos.service.name
        sasl.mechanism sasl.oauthbearer.assertion.claim.aud sasl.oauthbearer.assertion.claim.iss
        sasl.oauthbearer.assertion.claim.sub sasl.oauthbearer.assertion.file
        sasl.oauthbearer.assertion.private.key.file sasl.oauthbearer.assertion.template.file
        sasl.oauthbearer.client.credentials.client.id sasl.oauthbearer.expected.issuer
        sasl.oauthbearer.jwks.endpoint.url sasl.oauthbearer.scope sasl.oauthbearer.scope.claim.name
        sasl.oauthbearer.sub.claim.name sasl.oauthbearer.token.endpoint.url security.providers
        ssl.endpoint.identification.algorithm ssl.keymanager.algorithm ssl.keystore.location ssl.keystore.type
        ssl.protocol ssl.provider ssl.secure.random.implementation ssl.trustmanager.algorithm
        ssl.truststore.location ssl.truststore.type
    """,
    Type.LIST: """
        config.providers interceptor.classes metric.reporters partition.assignment.strategy
        sasl.oauthbearer.expected.audience ssl.cipher.suites ssl.enabled.protocols
    """,
    Type.CLASS: """
        key.deserializer sasl.client.callback.handler.class sasl.login.callback.handler.class sasl.login.class
        sasl.oauthbearer.jwt.retriever.class sasl.oauthbearer.jwt.validator.class ssl.engine.factory.class
        value.deserializer
    """,
    Type.PASSWORD: """
        sasl.jaas.config sasl.oauthbearer.assertion.private.key.passphrase
        sasl.oauthbearer.client.credentials.client.secret ssl.key.password ssl.keystore.certificate.chain
        ssl.keystore.key ssl.keystore.password ssl.truststore.certificates ssl.truststore.password
    """,
}
"""Settings of consumers that have neither a default nor bounds, by type."""

CONSUMER: Mapping[str, Definition] = {
    "allow.auto.create.topics": Definition(Type.BOOLEAN, "true"),
    "auto.commit.interval.ms": Definition(Type.INT, 5000, least=0),
    "auto.offset.reset": Definition(Type.STRING, "latest", words=("latest", "earliest", "none", BY_DURATION)),
    "bootstrap.servers": Definition(Type.LIST, nonempty=True),
    "check.crcs": Definition(Type.BOOLEAN, "true"),
    "client.dns.lookup": Definition(
        Type.STRING, "use_all_dns_ips", words=("use_all_dns_ips", "resolve_canonical_bootstrap_servers_only")
    ),
    "connections.max.idle.ms": Definition(Type.LONG, 540_000),
    "default.api.timeout.ms": Definition(Type.INT, 60_000, least=0),
    "enable.auto.commit": Definition(Type.BOOLEAN, "true"),
    "enable.metrics.push": Definition(Type.BOOLEAN, "true"),
    "exclude.internal.topics": Definition(Type.BOOLEAN, "true"),
    "fetch.max.bytes": Definition(Type.INT, 52_428_800, least=0),
    "fetch.max.wait.ms": Definition(Type.INT, 500, least=0),
    "fetch.min.bytes": Definition(Type.INT, 1, least=0),
    "group.instance.id": Definition(Type.STRING, nonempty=True),
    "group.protocol": Definition(Type.STRING, "classic", words=("consumer", "classic"), any_case=True),
    "heartbeat.interval.ms": Definition(Type.INT, 3000),
    "internal.throw.on.fetch.stable.offset.unsupported": Definition(Type.BOOLEAN, "false"),
    "isolation.level": Definition(Type.STRING, "read_uncommitted", words=("read_committed", "read_uncommitted")),
    "max.partition.fetch.bytes": Definition(Type.INT, 1_048_576, least=0),
    "max.poll.interval.ms": Definition(Type.INT, 300_000, least=1),
    "max.poll.records": Definition(Type.INT, 500, least=1),
    "metadata.max.age.ms": Definition(Type.LONG, 300_000, least=0),
    "metadata.recovery.rebootstrap.trigger.ms": Definition(Type.LONG, 300_000, least=0),
    "metadata.recovery.strategy": Definition(Type.STRING, "rebootstrap", words=("rebootstrap", "none"), any_case=True),
    "metrics.num.samples": Definition(Type.INT, 2, least=1),
    "metrics.recording.level": Definition(Type.STRING, "INFO", words=("INFO", "DEBUG", "TRACE")),
    "metrics.sample.window.ms": Definition(Type.LONG, 30_000, least=0),
    "receive.buffer.bytes": Definition(Type.INT, 65_536, least=-1),
    "reconnect.backoff.max.ms": Definition(Type.LONG, 1000, least=0),
    "reconnect.backoff.ms": Definition(Type.LONG, 50, least=0),
    "request.timeout.ms": Definition(Type.INT, 30_000, least=0),
    "retry.backoff.max.ms": Definition(Type.LONG, 1000, least=0),
    "retry.backoff.ms": Definition(Type.LONG, 100, least=0),
    "sasl.kerberos.min.time.before.relogin": Definition(Type.LONG, 60_000),
    "sasl.kerberos.ticket.renew.jitter": Definition(Type.DOUBLE, 0.05),
    "sasl.kerberos.ticket.renew.window.factor": Definition(Type.DOUBLE, 0.8),
    "sasl.login.connect.timeout.ms": Definition(Type.INT),
    "sasl.login.read.timeout.ms": Definition(Type.INT),
    "sasl.login.refresh.buffer.seconds": Definition(Type.SHORT, 300, least=0, most=3600),
    "sasl.login.refresh.min.period.seconds": Definition(Type.SHORT, 60, least=0, most=900),
    "sasl.login.refresh.window.factor": Definition(Type.DOUBLE, 0.8, least=0.5, most=1.0),
    "sasl.login.refresh.window.jitter": Definition(Type.DOUBLE, 0.05, least=0.0, most=0.25),
    "sasl.login.retry.backoff.max.ms": Definition(Type.LONG, 10_000),
    "sasl.login.retry.backoff.ms": Definition(Type.LONG, 100),
    "sasl.oauthbearer.assertion.algorithm": Definition(Type.STRING, "RS256", words=("es256", "rs256"), any_case=True),
    "sasl.oauthbearer.assertion.claim.exp.seconds": Definition(Type.INT, 300, least=0, most=86_400),
    "sasl.oauthbearer.assertion.claim.jti.include": Definition(Type.BOOLEAN, "false"),
    "sasl.oauthbearer.assertion.claim.nbf.seconds": Definition(Type.INT, 60, least=0, most=3600),
    "sasl.oauthbearer.clock.skew.seconds": Definition(Type.INT, 30),
    "sasl.oauthbearer.header.urlencode": Definition(Type.BOOLEAN, "false"),
    "sasl.oauthbearer.jwks.endpoint.refresh.ms": Definition(Type.LONG, 3_600_000),
    "sasl.oauthbearer.jwks.endpoint.retry.backoff.max.ms": Definition(Type.LONG, 10_000),
    "sasl.oauthbearer.jwks.endpoint.retry.backoff.ms": Definition(Type.LONG, 100),
    "security.protocol": Definition(
        Type.STRING, "PLAINTEXT", words=("sasl_ssl", "plaintext", "ssl", "sasl_plaintext"), any_case=True
    ),
    "send.buffer.bytes": Definition(Type.INT, 131_072, least=-1),
    "session.timeout.ms": Definition(Type.INT, 45_000),
    "share.acknowledgement.mode": Definition(Type.STRING, "implicit", words=("implicit", "explicit")),
    "share.acquire.mode": Definition(
        Type.STRING, "BATCH_OPTIMIZED", words=("batch_optimized", "record_limit"), any_case=True
    ),
    "socket.connection.setup.timeout.max.ms": Definition(Type.LONG, 30_000),
    "socket.connection.setup.timeout.ms": Definition(Type.LONG, 10_000),
} | {name: Definition(kind) for kind, names in _WITHOUT_DEFAULT.items() for name in names.split()}
"""`ConsumerConfig.configDef()`."""

_OF_EACH_TYPE = {
    "assignment.interval.ms": Definition(Type.INT, 1000, least=0),
    "heartbeat.interval.ms": Definition(Type.INT, 5000, least=1),
    "max.assignment.interval.ms": Definition(Type.INT, 15_000, least=0),
    "max.heartbeat.interval.ms": Definition(Type.INT, 15_000, least=1),
    "max.session.timeout.ms": Definition(Type.INT, 60_000, least=1),
    "min.assignment.interval.ms": Definition(Type.INT, 0, least=0),
    "min.heartbeat.interval.ms": Definition(Type.INT, 5000, least=1),
    "min.session.timeout.ms": Definition(Type.INT, 45_000, least=1),
    "session.timeout.ms": Definition(Type.INT, 45_000, least=1),
}
"""Settings that consumer, share and streams groups have each, after `group.consumer.` and so on."""

COORDINATOR: Mapping[str, Definition] = {
    "group.consumer.assignors": Definition(Type.LIST, nonempty=True),
    "group.consumer.max.size": Definition(Type.INT, 2_147_483_647, least=1),
    "group.consumer.migration.policy": Definition(
        Type.STRING, "bidirectional", words=("disabled", "downgrade", "upgrade", "bidirectional"), any_case=True
    ),
    "group.consumer.regex.refresh.interval.ms": Definition(Type.INT, 600_000, least=10_000),
    "group.coordinator.append.linger.ms": Definition(Type.INT, -1, least=-1),
    "group.coordinator.background.threads": Definition(Type.INT, 2, least=1),
    "group.coordinator.cached.buffer.max.bytes": Definition(Type.INT, 1_048_588, least=524_288),
    "group.coordinator.rebalance.protocols": Definition(
        Type.LIST, words=("consumer", "classic", "share", "streams"), nonempty=True
    ),
    "group.coordinator.threads": Definition(Type.INT, 4, least=1),
    "group.initial.rebalance.delay.ms": Definition(Type.INT, 3000),
    "group.max.session.timeout.ms": Definition(Type.INT, 1_800_000),
    "group.max.size": Definition(Type.INT, 2_147_483_647, least=1),
    "group.min.session.timeout.ms": Definition(Type.INT, 6000),
    "group.share.assignors": Definition(Type.LIST, nonempty=True),
    "group.share.initialize.retry.interval.ms": Definition(Type.INT, 30_000, least=1),
    "group.share.max.size": Definition(Type.INT, 200, least=1, most=1000),
    "group.streams.initial.rebalance.delay.ms": Definition(Type.INT, 3000, least=0),
    "group.streams.max.size": Definition(Type.INT, 2_147_483_647, least=1),
    "group.streams.max.standby.replicas": Definition(Type.INT, 2, least=0),
    "group.streams.num.standby.replicas": Definition(Type.INT, 0, least=0),
    "offset.metadata.max.bytes": Definition(Type.INT, 4096),
    "offsets.commit.timeout.ms": Definition(Type.INT, 5000, least=1),
    "offsets.load.buffer.size": Definition(Type.INT, 5_242_880, least=1),
    "offsets.retention.check.interval.ms": Definition(Type.LONG, 600_000, least=1),
    "offsets.retention.minutes": Definition(Type.INT, 10_080, least=1),
    "offsets.topic.compression.codec": Definition(Type.INT, 0),
    "offsets.topic.num.partitions": Definition(Type.INT, 50, least=1),
    "offsets.topic.replication.factor": Definition(Type.SHORT, 3, least=1),
    "offsets.topic.segment.bytes": Definition(Type.INT, 104_857_600, least=1),
} | {
    f"group.{kind}.{name}": definition
    for kind in ("consumer", "share", "streams")
    for name, definition in _OF_EACH_TYPE.items()
}
"""`GroupCoordinatorConfig.CONFIG_DEF`."""

REPLICATION: Mapping[str, Definition] = {"min.insync.replicas": Definition(Type.INT, 1, least=1)}
"""Other broker settings that a rule needs."""
