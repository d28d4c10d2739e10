"""What a user of a broker with an authorizer may see."""

from collections.abc import Sequence

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
    return ACL(f"User:{user}", "*", ACLOperation.DESCRIBE, ACLPermissionType.ALLOW, ResourcePattern(*resource))


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
