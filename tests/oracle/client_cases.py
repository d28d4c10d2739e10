"""Random groups for the client's four assignors: clean ones, and every kind of dirt that a real group can bring.

A case is what stands in JoinGroup, so both sides can be built from it: our `Group` and Java's subscriptions.
"""

import random
from collections.abc import Callable, Sequence
from dataclasses import replace

from assignors.client.sticky.user_data import encode
from assignors.model import Group, Member, Topic, TopicPartition

RACKS = ("a", "b", "c", "d")
# "Aa" and "BB" have one hash code, so all words made of the two, equally many, share a bucket.
COLLIDING = ("Aa", "BB")


def draw(r: random.Random) -> Group:
    """A group of one of many families."""
    return r.choices(FAMILIES, WEIGHTS)[0](r)


def _topics(r: random.Random, most: int = 6, largest: int = 9) -> dict[str, Topic]:
    names = r.sample(
        ("t", "t1", "t2", "orders", "pay.ments", "AaAa", "AaBB", "BBAa", "BBBB", "é", "z-1", "Z"), r.randint(1, most)
    )
    return {name: Topic(name, r.randint(0 if r.random() < 0.1 else 1, largest)) for name in names}


def _ids(r: random.Random, count: int) -> list[str]:
    style = r.randrange(5)
    if style == 0:
        return [f"c{number}" for number in r.sample(range(count), count)]
    if style == 1:
        words = ["".join(r.choice(COLLIDING) for _ in range(5)) for _ in range(3 * count)]
        distinct = list(dict.fromkeys(words))[:count]
        return distinct + [f"x{number}" for number in range(count - len(distinct))]
    if style == 2:
        return [f"consumer-{r.randrange(3)}-{r.getrandbits(128):032x}" for _ in range(count)]
    if style == 3:
        return r.sample([chr(code) for code in (*range(97, 123), 0xE9, 0xFF21, 0x1D11E, 0x20AC)], min(count, 26)) + [
            f"m{number}" for number in range(count - 26)
        ]
    return [f"m{number}" for number in range(count)]


def _members(r: random.Random, topics: dict[str, Topic], count: int, mixed: bool) -> list[Member]:
    names = sorted(topics)
    common = tuple(r.sample(names, r.randint(1, len(names))))
    members = []
    for member_id in _ids(r, count):
        wanted = tuple(r.sample(names, r.randint(1, len(names)))) if mixed else tuple(r.sample(common, len(common)))
        members.append(Member(member_id, topics=wanted))
    return members


def _count(r: random.Random) -> int:
    return r.choice((1, 2, 3, 3, 4, 5, 6, 8, 13, r.randint(12, 30)))


def _group(members: Sequence[Member], topics: dict[str, Topic]) -> Group:
    return Group("g", tuple(members), topics)


def fresh(r: random.Random) -> Group:
    """Nobody owns anything."""
    topics = _topics(r, largest=r.choice((3, 9, 20)))
    return _group(_members(r, topics, _count(r), mixed=False), topics)


def fresh_mixed(r: random.Random) -> Group:
    """The same, with different subscriptions."""
    topics = _topics(r, largest=r.choice((3, 9, 20)))
    return _group(_members(r, topics, _count(r), mixed=True), topics)


def _owning(r: random.Random, group: Group, generation: int, only_wanted: bool = True) -> Group:
    """The group's members own its partitions, each one at most, as of that generation."""
    owned: dict[str, list[TopicPartition]] = {member.member_id: [] for member in group.members}
    skew = r.random()
    for topic in group.topics.values():
        for number in range(topic.partitions):
            takers = [m.member_id for m in group.members if topic.name in m.topics or not only_wanted]
            if takers and r.random() < 0.9:
                taker = takers[0] if r.random() < skew * 0.6 else r.choice(takers)
                owned[taker].append(TopicPartition(topic.name, number))
    members = []
    for member in group.members:
        mine = owned[member.member_id]
        if r.random() < 0.3:
            r.shuffle(mine)
        members.append(replace(member, owned=tuple(mine), generation=generation))
    return replace(group, members=tuple(members))


def owned(r: random.Random) -> Group:
    """Members own what they want, evenly or not; some newcomers; some partitions free."""
    base = r.choice((fresh, fresh_mixed))(r)
    group = _owning(r, base, r.randint(0, 5))
    keep = tuple(replace(member, owned=(), generation=None) if r.random() < 0.2 else member for member in group.members)
    return replace(group, members=keep)


def swollen(r: random.Random) -> Group:
    """A few members own nearly everything: more have too much than may keep one more."""
    group = owned(r)
    rich = r.sample([m.member_id for m in group.members], r.randint(1, max(1, len(group.members) // 2)))
    pool = [tp for member in group.members for tp in member.owned]
    r.shuffle(pool)
    shares: dict[str, list[TopicPartition]] = {member_id: [] for member_id in rich}
    for tp in pool:
        takers = [m.member_id for m in group.members if m.member_id in shares and tp.topic in m.topics]
        if takers:
            shares[r.choice(takers)].append(tp)
    members = tuple(replace(m, owned=tuple(shares.get(m.member_id, ()))) for m in group.members)
    return replace(group, members=members)


def changed(r: random.Random) -> Group:
    """After members owned things, topics grew or shrank, came or went, and subscriptions changed."""
    group = owned(r)
    topics = {
        name: replace(topic, partitions=max(0, topic.partitions + r.choice((0, 0, 2, 5, -1))))
        for name, topic in group.topics.items()
        if r.random() < 0.9
    }
    members = []
    for member in group.members:
        wanted = list(member.topics)
        if r.random() < 0.2 and len(wanted) > 1:
            wanted.remove(r.choice(wanted))
        members.append(replace(member, topics=tuple(wanted)))
    return replace(group, members=tuple(members), topics=topics or group.topics)


def disputed(r: random.Random) -> Group:
    """Partitions claimed twice and more, of equal and of different generations, in any order."""
    group = owned(r)
    claimed = [tp for member in group.members for tp in member.owned]
    members = []
    for member in group.members:
        more = r.sample(claimed, min(len(claimed), r.randint(0, 4)))
        generation = r.choice((None, 0, 3, 3, 4, 5))
        field_only = replace(member, owned=(*member.owned, *more), generation=generation)
        members.append(field_only)
    return replace(group, members=tuple(members))


def stale(r: random.Random) -> Group:
    """Some members speak of an older generation, partly of topics they no longer subscribe to."""
    base = fresh_mixed(r)
    group = _owning(r, base, 7, only_wanted=r.random() < 0.6)
    pool = [tp for member in group.members for tp in member.owned]
    members = []
    for member in group.members:
        if r.random() < 0.4:
            old = r.sample(pool, min(len(pool), r.randint(0, 6)))
            member = replace(member, owned=tuple(dict.fromkeys(old)), generation=r.choice((None, 2, 3, 6)))
        members.append(member)
    return replace(group, members=tuple(members))


def odd_lists(r: random.Random) -> Group:
    """Empty subscriptions, before others or after; topics named twice; topics that do not exist."""
    group = r.choice((fresh, fresh_mixed, owned))(r)
    members = []
    for member in group.members:
        kind = r.random()
        wanted = member.topics
        if kind < 0.25:
            wanted = ()
        elif kind < 0.35 and wanted:
            wanted = (*wanted, wanted[0])
        elif kind < 0.45:
            wanted = (*wanted, "no-such-topic")
        members.append(replace(member, topics=wanted))
    return replace(group, members=tuple(members))


def racked(r: random.Random) -> Group:
    """Members and replicas in racks; of three replicas two are in one rack."""
    group = r.choice((fresh, fresh_mixed, owned, swollen, disputed))(r)
    racks = RACKS[: r.randint(1, 4)]
    copies = r.randint(1, 2)
    topics = {
        name: replace(
            topic, racks=tuple(_replicas(r.sample(racks, min(copies, len(racks)))) for _ in range(topic.partitions))
        )
        if r.random() < 0.85
        else topic
        for name, topic in group.topics.items()
    }
    if r.random() < 0.2:
        topics = {
            name: replace(topic, racks=tuple(racks for _ in range(topic.partitions))) for name, topic in topics.items()
        }
    members = tuple(replace(m, rack=r.choice((*racks, "", None, "e"))) for m in group.members)
    return replace(group, members=members, topics=topics)


def _replicas(racks: Sequence[str]) -> tuple[str, ...]:
    return (*racks, racks[0]) if len(racks) > 1 else tuple(racks)


def copartitioned(r: random.Random) -> Group:
    """Topics of equal size and subscribers, in racks."""
    size = r.randint(1, 12)
    names = [f"t{number}" for number in range(r.randint(2, 4))]
    racks = RACKS[: r.randint(2, 3)]
    topics = {
        name: Topic(name, size, tuple(tuple(r.sample(racks, r.randint(1, 2))) for _ in range(size))) for name in names
    }
    topics["other"] = Topic("other", r.randint(1, 12), None)
    members = _members(r, topics, _count(r), mixed=r.random() < 0.2)
    return _group([replace(m, rack=r.choice((*racks, *racks, None))) for m in members], topics)


def static(r: random.Random) -> Group:
    """Instance ids, now and then one twice."""
    group = r.choice((fresh, fresh_mixed, owned))(r)
    pool = [f"pod-{number}" for number in range(len(group.members) if r.random() < 0.2 else 60)]
    members = tuple(replace(m, instance_id=r.choice((None, r.choice(pool)))) for m in group.members)
    return replace(group, members=members)


def strays(r: random.Random) -> Group:
    """Claims on partitions that do not exist."""
    group = r.choice((owned, swollen, disputed, stale))(r)
    names = sorted(group.topics)
    members = []
    for member in group.members:
        if r.random() < 0.3:
            name = r.choice((*member.topics, r.choice(names)))
            wrong = TopicPartition(name, r.choice((-1, group.topics[name].partitions + r.randrange(3), 10**6)))
            mine = list(member.owned)
            mine.insert(r.randint(0, len(mine)), wrong)
            member = replace(member, owned=tuple(mine))
        members.append(member)
    return replace(group, members=tuple(members))


def on_the_wire(r: random.Random) -> Group:
    """User data of either version, illegible ones, and fields that say something else."""
    group = r.choice((owned, swollen, disputed, stale, changed, strays))(r)
    members = []
    for member in group.members:
        generation = -1 if member.generation is None else member.generation
        data = encode(member.owned, generation)
        kind = r.random()
        if kind < 0.2:
            data = data[:-4]
        elif kind < 0.25:
            data = data[: r.randint(0, len(data))]
        elif kind < 0.28:
            data = r.randbytes(r.randint(0, 12))
        elif kind < 0.31:
            data += r.randbytes(3)
        elif kind < 0.36:
            data = generation.to_bytes(4, "big", signed=True)
        field = r.choice((member.generation, member.generation, None, 4))
        kept = r.choice(((), member.owned))
        members.append(replace(member, user_data=data, owned=kept, generation=field))
    return replace(group, members=tuple(members))


def crowded(r: random.Random) -> Group:
    """More members than partitions."""
    topics = _topics(r, most=3, largest=4)
    group = _group(_members(r, topics, r.randint(8, 40), mixed=r.random() < 0.5), topics)
    return _owning(r, group, 1) if r.random() < 0.5 else group


def wide(r: random.Random) -> Group:
    """More partitions: moves within a topic come back, and hash sets grow."""
    names = [f"w{number}" for number in range(r.randint(2, 5))]
    topics = {name: Topic(name, r.randint(20, 70)) for name in names}
    group = _group(_members(r, topics, r.randint(3, 9), mixed=True), topics)
    group = _owning(r, group, 3, only_wanted=r.random() < 0.9)
    return stale_part(r, group) if r.random() < 0.6 else group


def stale_part(r: random.Random, group: Group) -> Group:
    """Some of the group's members fall back a generation or two; others claim what they have."""
    members = list(group.members)
    for at in r.sample(range(len(members)), r.randint(1, len(members))):
        other = r.choice(members)
        old = tuple(dict.fromkeys((*members[at].owned[::2], *other.owned[: r.randint(0, 20)])))
        members[at] = replace(members[at], owned=old, generation=r.choice((1, 2)))
    return replace(group, members=tuple(members))


FAMILIES: tuple[Callable[[random.Random], Group], ...] = (
    fresh,
    fresh_mixed,
    owned,
    swollen,
    changed,
    disputed,
    stale,
    odd_lists,
    racked,
    copartitioned,
    static,
    strays,
    on_the_wire,
    crowded,
    wide,
)
WEIGHTS = (2, 2, 6, 5, 6, 7, 8, 6, 10, 3, 5, 6, 8, 3, 3)


def mixed_family(family: str, topics: int, partitions: int, members: int) -> Group:
    """Groups whose subscriptions differ, after the ways in which others have measured assignors.

    `bucket5`: five disjoint sets of topics; `lastone`: the last member has the first topic only; `overlap`: each member
    lacks a quarter of the topics; `mod4`: every fourth member has the first half. Anything else: all are equal.
    """
    names = [f"topic-{number:04d}" for number in range(topics)]
    subsets = {"": tuple(names)}

    def subscription(at: int) -> tuple[str, ...]:
        if family == "bucket5":
            return subsets.setdefault(f"b{at % 5}", tuple(names[at % 5 :: 5]))
        if family == "lastone" and at == members - 1:
            return (names[0],)
        if family == "overlap":
            lacking = tuple(name for number, name in enumerate(names) if (number + at) % 4)
            return subsets.setdefault(f"o{at % 4}", lacking)
        if family == "mod4" and at % 4 == 0:
            return subsets.setdefault("m", tuple(names[: topics // 2]))
        return subsets[""]

    r = random.Random(1)
    ids = [f"consumer-{at % 7}-{r.getrandbits(128):032x}" for at in range(members)]
    made = tuple(Member(id_, topics=subscription(at)) for at, id_ in enumerate(ids))
    return Group("g", made, {name: Topic(name, partitions) for name in names})
