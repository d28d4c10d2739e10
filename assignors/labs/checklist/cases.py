"""Section 1b of the checklist: who gets which partition."""

from assignors.labs.checklist.model import Row, calls, protocol, whatif

ROWS: tuple[Row, ...] = (
    Row(
        "1b.1",
        "Range deals 7 partitions to 3 members in runs: 3, 2, 2.",
        "C1 has 0 to 2, C2 3 and 4, C3 5 and 6: the first (7 mod 3) members get one more.",
        whatif("seven-for-three", generation=0),
    ),
    Row(
        "1b.2",
        "C1 leaves, under range.",
        "All is dealt anew: C2 0 to 3, C3 4 to 6.",
        whatif("seven-for-three"),
    ),
    Row(
        "1b.3",
        "C1 leaves, under sticky: the two others keep theirs and share what C1 had.",
        "C2 keeps 3 and 4 and gets 0 and 2, C3 keeps 5 and 6 and gets 1: members with room are filled in turn.",
        whatif("sticky-from-range"),
    ),
    Row(
        "1b.4",
        "Round robin deals 7 partitions to 3 members in turn; so does sticky for a fresh group.",
        "Both: C1 0, 3 and 6, C2 1 and 4, C3 2 and 5.",
        (
            *whatif("seven-for-three", assignor="roundrobin", generation=0),
            *whatif("seven-for-three", assignor="sticky", generation=0),
        ),
    ),
    Row(
        "1b.5",
        "Round robin is out of balance when members subscribe to different topics.",
        "With topics of 1, 2 and 3 partitions, C0, C1 and C2 get 1, 1 and 4 of them; sticky gives 1, 2 and 3.",
        (
            *whatif("unequal-subscriptions", generation=0),
            *whatif("unequal-subscriptions", assignor="sticky", generation=0),
        ),
    ),
    Row(
        "1b.6",
        "Range overloads the first member when a group reads several topics.",
        "Two topics of 3 partitions on 2 members: 4 against 2; round robin gives 3 and 3.",
        whatif("range-overload", generation=0),
    ),
    Row(
        "1b.7",
        "What divides evenly is dealt evenly: 9 for 3 are 3 each, 100 for 20 are 5 each.",
        "With every assignor.",
        whatif("nine-for-three", "hundred-for-twenty", generation=0),
    ),
    Row(
        "1b.8",
        "Sticky's last step, where some members may have one more than others, hardly ever runs.",
        "It runs whenever the partitions do not divide evenly and nobody is below the least share.",
        whatif("sticky-remainder"),
    ),
    Row(
        "1b.9",
        "Cooperative: A owns all six, B joins.",
        "In two rounds: A gives up 3 to 5, then B gets them.",
        whatif("cooperative-second-member"),
    ),
    Row(
        "1b.10",
        "Cooperative: A and B own three each, C joins.",
        "In two rounds: each gives up its last one, then C gets 2 and 5.",
        whatif("cooperative-hand-over"),
    ),
    Row(
        "1b.11",
        "Members are dealt to in the order of their ids.",
        "Range and round robin: first those with an instance id, by it, then by member id, which is the client id "
        "and a random part. Sticky sorts by member id alone.",
        whatif("static-members-first", generation=0),
    ),
    Row(
        "1b.12",
        "Sticky wants balance first, then to move little; it takes a change back that brings no better balance.",
        "So it is, wherever subscriptions differ.",
        whatif("sticky-after-a-leave", "mixed-subscriptions"),
    ),
    Row(
        "1b.13",
        "Sticky reads from the subscriptions who owned what.",
        "Sticky from its own user data, cooperative-sticky from the owned partitions and their generation; so only the "
        "latter can tell that a claim is out of date.",
        whatif("sticky-after-a-leave", "cooperative-hand-over"),
    ),
    Row(
        "1b.14",
        "Range is the default.",
        "Range and cooperative-sticky are, since 3.0: the group still uses range and the eager protocol, until range "
        "is taken out of the list.",
        calls("two-assignors"),
    ),
    Row(
        "1b.15",
        "The coordinator makes the plan.",
        "The leader among the clients does in a classic group, the broker in a KIP-848 one.",
        (*calls("join-and-sync", "broker-plans"), *protocol("join")),
    ),
)
