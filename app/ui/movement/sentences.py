"""What each picture finds, as a sentence: for alt texts and headlines."""

import numpy as np

from app.ui.formats import few, plural
from app.ui.movement.steps import GAINED, KEPT, NO_CELL, REVOKED, UNASSIGNED, Steps

MOST_NAMED = 4


def step(steps: Steps, at: int) -> str:
    """ "Generation 7: c3 left; 34 of 100 partitions moved"."""
    return f"{_name(steps, at)}: {steps.events[at]}; {moved(steps, at)}"


def moved(steps: Steps, at: int) -> str:
    """What a generation did in counts: "24 of 36 partitions moved, 12 assigned"."""
    kinds, had = steps.kinds(at), steps.before(at) >= 0
    existing = int((kinds != NO_CELL).sum())
    tally = {
        "moved": int(((kinds == GAINED) & had).sum()),
        "assigned": int(((kinds == GAINED) & ~had).sum()),
        "revoked": int((kinds == REVOKED).sum()),
        "without an owner": int((kinds == UNASSIGNED).sum()),
    }
    counts = [f"{n:,} {word}" for word, n in tally.items() if n]
    if not counts:
        return f"none of {plural(existing, 'partition')} moved" if existing else "no partitions"
    number, _, word = counts[0].partition(" ")
    return ", ".join([f"{number} of {plural(existing, 'partition')} {word}", *counts[1:]])


def stills(steps: Steps, at: int) -> str:
    """Generations x partitions: where most changed, and which generation is marked."""
    changed = (steps.all_kinds() > KEPT).sum(axis=1)
    changed[0] *= (steps.start >= 0).any()  # a first assignment does not count as a change
    most = int(changed.argmax())
    peak = f"most changes in generation {steps.names[most]} ({steps.events[most]}): {changed[most]:,}"
    found = peak if changed.any() else "none changed"
    return f"{_span(steps)} of {plural(steps.partitions, 'partition')}; {found}. Current: {step(steps, at)}."


def counts(steps: Steps, at: int) -> str:
    """Members x generations: who has fewest and most, who has none, who is gone."""
    row, here = steps.counts()[at], np.flatnonzero(steps.present[at])
    gone = [steps.members[m] for m in np.flatnonzero(~steps.present[at] & steps.present[:at].any(axis=0))]
    idle = [steps.members[m] for m in here if row[m] == 0]
    if not len(here):
        return f"{_name(steps, at)}: no members left."
    low, high = here[row[here].argmin()], here[row[here].argmax()]
    text = f"{_name(steps, at)}: {plural(int(row[high]), 'partition')} per member"
    if row[low] < row[high]:
        text = f"{_name(steps, at)}: {row[low]:,} to {row[high]:,} partitions per member, most on {steps.members[high]}"
    text += f"; idle: {few(idle, MOST_NAMED)}" if idle else ""
    return text + (f"; left: {few(gone, MOST_NAMED)}." if gone else ".")


def animation(steps: Steps, at: int) -> str:
    """Which generations are animated, and the finding of the current one."""
    return f"{_span(steps)}, animated. Current: {step(steps, at)}."


def balance(steps: Steps, at: int) -> str:
    """Topic x member: who gained and who lost most."""
    after = steps.counts()[at]
    before = np.bincount(steps.before(at)[steps.before(at) >= 0], minlength=len(steps.members))
    change = after - before
    extremes = []
    if change.max(initial=0) > 0:
        extremes.append(f"{steps.members[change.argmax()]} gained most (+{change.max():,})")
    if change.min(initial=0) < 0:
        extremes.append(f"{steps.members[change.argmin()]} lost most (−{-change.min():,})")
    return f"{step(steps, at)}" + "".join(f"; {text}" for text in extremes) + "."


def flow(steps: Steps, at: int) -> str:
    """Sankey: the largest stream of partitions between two owners."""
    before, after = steps.before(at), steps.owners[at]
    gone = np.flatnonzero(np.isin(steps.kinds(at), (GAINED, REVOKED)))
    if not len(gone):
        return f"{step(steps, at)}."
    pairs, sizes = np.unique(np.stack([before[gone], after[gone]]), axis=1, return_counts=True)
    source, target = pairs[:, sizes.argmax()]
    return f"{step(steps, at)}; most from {steps.owner(source)} to {steps.owner(target)} ({sizes.max():,})."


def _name(steps: Steps, at: int) -> str:
    return f"Generation {steps.names[at]}"


def _span(steps: Steps) -> str:
    return f"Generations {steps.names[0]} to {steps.names[-1]}" if len(steps) > 1 else _name(steps, 0)
