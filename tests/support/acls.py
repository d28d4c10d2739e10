"""What a user of a broker with an authorizer may see."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from kafka.admin import (
    ACL,
    ACLFilter,
    ACLOperation,
    ACLPermissionType,
    ACLResourcePatternType,
    KafkaAdminClient,
    ResourcePattern,
    ResourcePatternFilter,
    ResourceType,
)

from tests.support.waiting import wait_until

Resource = tuple[ResourceType, str]


def may_describe(user: str, resource: Resource) -> ACL:
    return _acl(user, ACLOperation.DESCRIBE, ACLPermissionType.ALLOW, resource)


def let_describe(admin: KafkaAdminClient, user: str, resources: Sequence[Resource]) -> None:
    """Until the broker knows it: it answers before it has read what its controller wrote."""
    admin.create_acls([may_describe(user, resource) for resource in resources])
    anything = ResourcePatternFilter(ResourceType.ANY, None, ACLResourcePatternType.ANY)
    its = ACLFilter(f"User:{user}", None, ACLOperation.ANY, ACLPermissionType.ANY, anything)

    def known() -> bool:
        found = {
            (acl.resource_pattern.resource_type, acl.resource_pattern.resource_name)
            for acl in admin.describe_acls(its)[0]
        }
        return found >= set(resources)

    wait_until(known)


@contextmanager
def allowed(admin: KafkaAdminClient, user: str, operation: ACLOperation, resource: Resource) -> Iterator[None]:
    """In the block the user may do that."""
    with _entered(admin, _acl(user, operation, ACLPermissionType.ALLOW, resource)):
        yield


@contextmanager
def denied(admin: KafkaAdminClient, user: str, operation: ACLOperation, resource: Resource) -> Iterator[None]:
    """In the block the user may not do that, whatever else is allowed."""
    with _entered(admin, _acl(user, operation, ACLPermissionType.DENY, resource)):
        yield


def _acl(user: str, operation: ACLOperation, permission: ACLPermissionType, resource: Resource) -> ACL:
    return ACL(f"User:{user}", "*", operation, permission, ResourcePattern(*resource))


@contextmanager
def _entered(admin: KafkaAdminClient, its: ACL) -> Iterator[None]:
    """The broker knows of its begin and of its end."""
    admin.create_acls([its])
    wait_until(lambda: its in admin.describe_acls(its)[0])
    yield
    admin.delete_acls([its])
    wait_until(lambda: its not in admin.describe_acls(its)[0])
