"""The errors of groupscope.

GroupscopeError                 everything we raise on purpose; str() is one sentence: the cause, then the hint
├── ConfigError                 a setting, a file or a flag is wrong (the key or line is named, a value never)
├── ConnectError                no broker could be reached, or none accepts our connection
│   ├── AddressError            unknown host, refused port, unreachable network
│   ├── ProtocolMismatch        TLS against plaintext, or the reverse, or not a Kafka broker
│   ├── CertificateError        the broker's certificate, or ours, is expired, unknown or for another host
│   └── AuthenticationError     the broker refuses our credentials
├── EmbeddedError               the Kafka on this machine: no Java, a jar that fails its checksum, a broker that dies
├── ResetRefused                a change of a group is refused, and nothing of it was written
│   └── WritesNotAllowed        writes are switched off, or the cluster is marked read-only
└── HistoryError                the recorded history: a disk that is full, a newer schema, another cluster's checkpoint

Partial failure is not an exception: it arrives as `lag.model.Problem` beside the data that did arrive.
"""


class GroupscopeError(Exception):
    """Base of all errors that are shown to people; `cause` says what happened, `hint` what to do."""

    def __init__(self, cause: str, hint: str = "") -> None:
        super().__init__(f"{cause.rstrip('.')}. {hint}".strip() if hint else cause)
        self.cause = cause
        self.hint = hint


class ConfigError(GroupscopeError):
    """A setting, a file or a flag is wrong."""


class ConnectError(GroupscopeError):
    """No broker could be reached, or none accepts our connection."""


class AddressError(ConnectError):
    """Unknown host, refused port or unreachable network."""


class ProtocolMismatch(ConnectError):
    """TLS against a plaintext listener, the reverse, or something that is not a Kafka broker."""


class CertificateError(ConnectError):
    """A certificate is expired, unknown or for another host."""


class AuthenticationError(ConnectError):
    """The broker refuses our credentials."""


class EmbeddedError(GroupscopeError):
    """The Kafka on this machine could not be fetched, started or stopped."""


class HistoryError(GroupscopeError):
    """The recorded history could not be read or written, or belongs to another cluster."""


class ResetRefused(GroupscopeError):
    """A change of a group is refused: its members are active, or it is not as the plan says. Nothing was written."""


class WritesNotAllowed(ResetRefused):
    """Writes are switched off, or the cluster is marked read-only."""
