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
    Keys,
    absent_order,
    plain_order,
    put_order,
    segment_orders,
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


@pytest.mark.parametrize("seed", range(60))
def test_keys_put_and_then_computed_equal_the_exact_map(seed: int) -> None:
    r = random.Random(seed)
    codes = r.sample(range(-(2**31), 2**31), r.choice((1, 2, 3, 5, 7, 8, 12, 13, 60, 200)))
    put, capacity, ends_with_new = r.randrange(len(codes)), r.choice((1, 2, 4, 16)), r.random() < 0.5
    exact: JavaHashMap[int, bool] = JavaHashMap(Keys(codes.__getitem__), capacity)
    for position in range(put):
        exact[position] = True
    for position in range(put, len(codes)):
        exact.compute_if_absent(position, lambda: True)
    if not ends_with_new:
        exact.compute_if_absent(len(codes) - 1, lambda: True)
    assert absent_order(np.array(codes, dtype=np.int32), put, capacity, ends_with_new).tolist() == list(exact)


@pytest.mark.parametrize("jdk", [17, 21])
def test_many_sets_at_once_equal_each_exact_set(jdk: int) -> None:
    r = random.Random(jdk)
    lists = [r.sample(range(70_000), size) for size in (1, 12, 5, 24, 12, 1, 13, 48, 100, 3)]
    starts = np.cumsum([0, *map(len, lists[:-1])])
    numbers = np.array([number for listed in lists for number in listed], dtype=np.int32)
    found = segment_orders(numbers, starts, jdk)
    assert found.positions is not None
    assert found.crowded == ()
    exact = [number for listed in lists for number in JavaHashSet.copy_of(INTEGERS, listed, jdk)]
    assert numbers[found.positions].tolist() == exact
    assert segment_orders(numbers[found.positions], starts, jdk).positions is None


@pytest.mark.parametrize("jdk", [17, 21])
def test_crowded_sets_among_many_are_named_and_solved_exactly(jdk: int) -> None:
    r = random.Random(jdk)
    lists = [[5], r.sample(range(0, 64 * 40, 64), 40), r.sample(range(900), 300), r.sample(range(0, 9000, 512), 9), [7]]
    starts = np.cumsum([0, *map(len, lists[:-1])])
    numbers = np.array([number for listed in lists for number in listed], dtype=np.int32)
    found = segment_orders(numbers, starts, jdk)
    assert found.positions is not None
    assert found.crowded == (1, 3)
    exact = [number for listed in lists for number in JavaHashSet.copy_of(INTEGERS, listed, jdk)]
    assert numbers[found.positions].tolist() == exact
