"""Names of members: short on pages, whole in files, never twice the same."""

from app.ui.groups.member_names import full_member_names, member_names
from assignors.model import Member

LOADERS = [Member(f"warehouse-loader-{n}-4b1c000{n}", client_id=f"warehouse-loader-{n}") for n in (1, 2)]
EQUAL = [Member(f"consumer-4b1c000{n}", client_id="consumer") for n in (1, 2)]


def test_words_that_all_long_names_share_are_left_out_on_pages_only() -> None:
    assert list(member_names(LOADERS).values()) == ["loader-1", "loader-2"]
    assert list(full_member_names(LOADERS).values()) == ["warehouse-loader-1", "warehouse-loader-2"]


def test_equal_names_get_the_end_of_the_member_id() -> None:
    assert list(member_names(EQUAL).values()) == ["consumer…0001", "consumer…0002"]
    assert full_member_names(EQUAL) == member_names(EQUAL)
