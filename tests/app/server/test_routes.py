"""The HTTP routes beside Streamlit's own."""

import pytest

from tests.app.server.client import get


@pytest.mark.parametrize(
    ("address", "near"), [("what-if", "whatif"), ("Generation", "generations"), ("topic", "topics"), ("xyz", "")]
)
def test_an_unknown_address_names_the_nearest_page(address: str, near: str) -> None:
    answer = get(f"/{address}")
    assert answer.status == 404
    assert f'href="/{near}"' in answer.text
    assert address in answer.text


def test_a_page_is_served_and_the_first_one_is_at_the_root() -> None:
    assert get("/group", "group=a").status == 200
    assert get("/overview", "group=a").headers["location"] == "/?group=a"


@pytest.mark.parametrize("address", ["_stcore", "favicon.png", "a/b", "<script>"])
def test_what_is_no_word_is_left_to_streamlit(address: str) -> None:
    assert get(f"/{address}").text == "Not Found"
