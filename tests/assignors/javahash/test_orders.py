"""The orders of many keys at once equal those of the exact maps."""

import random

import numpy as np
import pytest

from assignors.javahash import (
    INTEGERS,
    STRINGS,
    CrowdedError,
    JavaHashMap,
    JavaHashSet,
    plain_order,
    put_order,
    string_hash,
    string_hashes,
    string_order,
)

TEXTS = ["", "a", "Aa", "BB", "orders", "é", "𝄞 clef", "\ud800", "x" * 249]


def test_hash_codes_of_many_texts_equal_those_of_each() -> None:
    assert string_hashes(TEXTS).tolist() == [string_hash(text) for text in TEXTS]
    assert string_hashes(["", ""]).tolist() == [0, 0]
    assert string_hashes([]).tolist() == []


def test_texts_of_one_hash_code_iterate_as_in_an_exact_map() -> None:
    texts = tuple(a + b + c + d for a in ("Aa", "BB") for b in ("Aa", "BB") for c in ("Aa", "BB") for d in ("Aa", "BB"))
    exact: JavaHashMap[str, bool] = JavaHashMap(STRINGS)
    for text in texts:
        exact[text] = True
    assert [texts[at] for at in string_order(texts)] == list(exact)


@pytest.mark.parametrize("capacity", [1, 2, 16, 64, 1024])
@pytest.mark.parametrize("size", [0, 1, 7, 8, 12, 13, 100, 1500])
def test_put_in_any_number_equals_the_exact_map(size: int, capacity: int) -> None:
    numbers = random.Random(size).sample(range(-(2**31), 2**31), size)
    exact = JavaHashSet(INTEGERS, capacity)
    for number in numbers:
        exact.add(number)
    order = put_order(np.array(numbers, dtype=np.int32), capacity)
    assert [numbers[at] for at in order.tolist()] == list(exact)


def test_a_crowded_bucket_is_refused_by_the_plain_order_and_solved_by_the_exact_one() -> None:
    numbers = np.arange(0, 64 * 40, 64, dtype=np.int32)
    exact = JavaHashSet(INTEGERS)
    for number in numbers.tolist():
        exact.add(number)
    with pytest.raises(CrowdedError):
        plain_order(numbers)
    assert numbers[put_order(numbers)].tolist() == list(exact)
