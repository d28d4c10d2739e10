"""The checklist as a page of the documentation."""

from collections.abc import Mapping

from assignors.labs import calls, delivery, watermark
from assignors.labs.checklist import SECTIONS, Page, Play, Row
from assignors.simulation import stories

DASHBOARD = "http://127.0.0.1:8501"
"""Where `make run` and `groupscope serve` put it."""

LABS = {
    Page.PROTOCOL: "Protocol lab",
    Page.DELIVERY: "Delivery lab",
    Page.WATERMARK: "Watermark lab",
    Page.CALLS: "Call lab",
    Page.WHATIF: "What-if",
}

_HEAD = f"""# Stories

What is said of Kafka's consumer groups, row by row: what holds in Kafka 4.3, and the story that plays it. The links
open a dashboard on this machine ({DASHBOARD}, as `make run` starts it); elsewhere, put the path behind its address.
Every story can be changed on its page, taken along as a file, and played again.

This page is made from `assignors/labs/checklist`: `python -m assignors.labs.checklist > docs/stories.md`.
"""


def titles() -> Mapping[tuple[Page, str], str]:
    """What each story of the labs is called; examples of What-if go by their names."""
    found = {(Page.PROTOCOL, its.name): its.scenario.name for its in stories.STORIES}
    found |= {(Page.DELIVERY, its.name): its.title for its in delivery.STORIES}
    found |= {(Page.WATERMARK, its.name): its.title for its in watermark.STORIES}
    return found | {(Page.CALLS, its.name): its.title for its in calls.STORIES}


def markdown() -> str:
    """The whole page."""
    named = titles()
    parts = [_HEAD]
    for title, rows in SECTIONS.items():
        parts += [f"\n## {title}\n\n| | It is said | Today | Played by |\n|---|---|---|---|\n"]
        parts += [_line(row, named) for row in rows]
    return "".join(parts)


def _line(row: Row, named: Mapping[tuple[Page, str], str]) -> str:
    played = "<br>".join(_link(play, named) for play in row.plays)
    cells = (row.row_id, row.says, row.holds, "removed" if row.removed else played)
    return f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |\n"


def _link(play: Play, named: Mapping[tuple[Page, str], str]) -> str:
    title = named.get((play.page, play.story), play.story.replace("-", " "))
    under = f", {play.assignor}" if play.assignor else ""
    return f"{LABS[play.page]}: [{title}{under}]({DASHBOARD}{play.link})"
