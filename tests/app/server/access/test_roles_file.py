"""The roles file: who has which grants."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.server.access.roles_file import RolesFile, User, load_roles
from app.server.access.visitor import Grant, Role, Visitor
from lag.errors import ConfigError

ROLES = """\
user_claim: email
grants:
  - role: admin
    users: [ann@example.com]
  - role: operator
    members: [payments-oncall]
    clusters: ["prod-*"]
    groups: ["payments-*"]
  - role: viewer
    members: ["*"]
    groups: ["orders-*", "payments-*"]
"""
EVERYBODY = Grant(Role.VIEWER, ("*",), ("orders-*", "payments-*"))
ON_CALL = Grant(Role.OPERATOR, ("prod-*",), ("payments-*",))


def read(tmp_path: Path, text: str = ROLES) -> RolesFile:
    path = tmp_path / "roles.yaml"
    path.write_text(text)
    return load_roles(path)


@pytest.mark.parametrize(
    ("user", "grants"),
    [
        (User("bob@example.com"), (EVERYBODY,)),
        (User("bob@example.com", ("payments-oncall", "x")), (ON_CALL, EVERYBODY)),
        (User("ann@example.com"), (Grant(Role.ADMIN), EVERYBODY)),
        (User("ANN@example.com"), (EVERYBODY,)),
        (User("payments-oncall"), (EVERYBODY,)),
        (User("x", ("ann@example.com",)), (EVERYBODY,)),
    ],
)
def test_a_user_has_every_grant_that_names_them_or_a_group_of_theirs(
    tmp_path: Path, user: User, grants: tuple[Grant, ...]
) -> None:
    assert read(tmp_path).grants_of(user) == grants


def test_grants_add_up_by_group_and_cluster(tmp_path: Path) -> None:
    visitor = Visitor("bob", grants=read(tmp_path).grants_of(User("bob", ("payments-oncall",))))
    assert visitor.may(Role.OPERATOR, "prod-eu", "payments-settlement")
    assert not visitor.may(Role.OPERATOR, "staging", "payments-settlement")
    assert visitor.may(Role.VIEWER, "staging", "payments-settlement")
    assert not visitor.may(Role.OPERATOR, "prod-eu", "orders-enrichment")
    assert visitor.may(Role.VIEWER, "prod-eu", "orders-enrichment")
    assert not visitor.may(Role.VIEWER, "prod-eu", "billing")
    assert not visitor.is_admin
    assert visitor.sees_cluster("staging")
    assert not visitor.sees_all("staging")


def test_an_empty_file_grants_nothing(tmp_path: Path) -> None:
    assert read(tmp_path, "").grants_of(User("ann@example.com", ("admins",))) == ()


@pytest.mark.parametrize(
    ("claims", "user"),
    [
        ({"email": "a@b", "groups": ["x", "y"]}, User("a@b", ("x", "y"))),
        ({"email": "a@b", "groups": "x, y"}, User("a@b", ("x", "y"))),
        ({"email": "a@b", "groups": [1, None, "x"]}, User("a@b", ("x",))),
        ({"email": "a@b", "groups": {"x": 1}}, User("a@b")),
        ({"email": "a@b", "email_verified": True}, User("a@b")),
        *(({"email": "a@b", "email_verified": no}, None) for no in (False, "false", "False", "true", 0, 1, "no", None)),
        *(({"email": "a@b", "email_verified": no}, None) for no in ([], [True], {"a@b": True})),
        ({"email": 1}, None),
        ({"email": ""}, None),
        ({"email": None}, None),
        ({"email": True}, None),
        ({"email": ["a@b"]}, None),
        ({"email": {"a@b": 1}}, None),
        ({"email": "a" * 1000}, User("a" * 1000)),
        ({"email": "a" * 1001}, None),
        ({"email": "a@b\nc"}, None),
        ({"email": "a@b\0"}, None),
        ({"email": "\u202ea@b"}, None),
        ({"email": "\ud800"}, None),
        ({"email": "größe@b"}, User("größe@b")),
        ({"sub": "a"}, None),
        ({"email": "a@b", "groups": None}, User("a@b")),
        ({"email": "a@b", "groups": 7}, User("a@b")),
        ({"email": "a@b", "groups": True}, User("a@b")),
        ({"email": "a@b", "groups": [["x"], {"x": 1}, True, "y"]}, User("a@b", ("y",))),
        ({"email": "a@b", "groups": ["", "x\ny", "z" * 1001, "\udfff", "y, z"]}, User("a@b", ("y, z",))),
        ({"email": "a@b", "groups": ",x,\x1b[0m,"}, User("a@b", ("x",))),
    ],
)
def test_the_claims_of_a_login_name_the_user(claims: dict[str, Any], user: User | None) -> None:
    assert RolesFile().user_of(claims) == user


CLAIMS = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=6,
)


@given(CLAIMS, CLAIMS, CLAIMS)
def test_whatever_a_provider_sends_names_somebody_or_nobody(email: object, verified: object, groups: object) -> None:
    user = RolesFile().user_of({"email": email, "email_verified": verified, "groups": groups})
    assert (user is not None) == (verified is True and isinstance(email, str) and email.isprintable() and email != "")
    assert user is None or all(group and group.isprintable() for group in user.member_of)


def test_other_claims_need_no_verified_address() -> None:
    claims = {"sub": "ann", "email": "a@b", "email_verified": False}
    assert RolesFile(user_claim="sub").user_of(claims) == User("ann")


@pytest.mark.parametrize(
    ("text", "reported"),
    [
        ("grants:\n  - role: root\n    users: [a]\n", "line 2: grants[0].role"),
        ("grants:\n  - role: admin\n", "line 2: grants[0]: Name users, or members"),
        (
            "grants:\n  - role: admin\n    user: [a]\n",
            "line 3: grants[0].user: The key 'user' is unknown. Did you mean 'users'?",
        ),
        ("grants:\n  - role: admin\n    users: [a]\n    groups: []\n", "line 4: grants[0].groups"),
    ],
)
def test_what_is_wrong_is_named_with_its_line(tmp_path: Path, text: str, reported: str) -> None:
    with pytest.raises(ConfigError) as refused:
        read(tmp_path, text)
    assert reported in str(refused.value)


NAMES = st.text("abc-*?[]", max_size=6)


@given(st.lists(st.tuples(st.sampled_from(Role), NAMES, NAMES), max_size=4), NAMES, NAMES)
def test_more_grants_never_take_anything_away(grants: list[tuple[Role, str, str]], cluster: str, group: str) -> None:
    made = tuple(Grant(role, (clusters,), (groups,)) for role, clusters, groups in grants)
    for role in Role:
        all_of_them = Visitor(grants=made).may(role, cluster, group)
        assert all_of_them == any(Visitor(grants=(grant,)).may(role, cluster, group) for grant in made)


@given(st.sampled_from(Role), NAMES, NAMES, NAMES)
def test_who_may_touch_a_group_may_see_it_and_its_cluster(role: Role, pattern: str, cluster: str, group: str) -> None:
    visitor = Visitor(grants=(Grant(role, (pattern,), (pattern,)),))
    for asked in Role:
        if visitor.may(asked, cluster, group):
            assert visitor.may(Role.VIEWER, cluster, group)
            assert visitor.sees_cluster(cluster)
    if visitor.sees_all(cluster):
        assert visitor.may(Role.VIEWER, cluster, group)
