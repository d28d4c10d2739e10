"""Which generation a link names."""

from app.views.generations.link import Key, Place, parameters, place

KEYS = [Key(0, 100), Key(3, 200), Key(4, 300), Key(4, 400), Key(7, 500)]


def test_without_a_number_it_is_the_newest() -> None:
    assert place(KEYS, None) == Place(4)


def test_a_number_names_its_generation() -> None:
    assert place(KEYS, Key(3)) == Place(1)


def test_of_two_with_one_number_the_time_says_which_and_without_it_the_newest_counts() -> None:
    assert (place(KEYS, Key(4, 300)), place(KEYS, Key(4))) == (Place(2), Place(3))


def test_a_number_that_is_not_kept_gives_the_nearest_and_of_two_the_newer() -> None:
    assert (place(KEYS, Key(1)), place(KEYS, Key(9)), place(KEYS, Key(5))) == (
        Place(0, 1),
        Place(4, 9),
        Place(3, 5),
    )


def test_an_old_link_names_the_position() -> None:
    assert (place(KEYS, None, 1), place(KEYS, None, 99), place(KEYS, None)) == (Place(1), Place(4), Place(4))


def test_the_url_has_the_time_only_where_the_number_is_there_twice() -> None:
    assert parameters(KEYS, 1) == {"generation": "3", "at": None, "gen": None}
    assert parameters(KEYS, 2) == {"generation": "4", "at": "300", "gen": None}
