"""The page's headline, and the state of the chosen group."""

from app.ui import formats, state
from app.views.reset.link import Choice


def headline(choice: Choice) -> str:
    """What would be changed, as Markdown."""
    if choice.group is None:
        return "Choose a group to reset its offsets"
    group = formats.code(choice.group)
    match choice.way:
        case "delete-group":
            return f"Delete the group {group}"
        case "remove-member":
            return f"Remove a static member of {group}"
        case "delete":
            return f"Delete offsets of {group}"
    return f"Reset the offsets of {group}"


def state_of(page: state.Shown, choice: Choice) -> str:
    """Whether the group has members, which must have stopped unless one of them is to be removed."""
    group = None if choice.group is None else page.report.snapshot.group(choice.group)
    if choice.group is None:
        return "nothing is written before you confirm"
    if group is None:
        return "not on this cluster"
    if not group.members:
        return f"{group.state}, no members"
    members = f"{group.state}, {formats.plural(len(group.members), 'member')}"
    them = "it" if len(group.members) == 1 else "them"
    return members if choice.way == "remove-member" else f"{members}: stop {them} before you apply the plan"
