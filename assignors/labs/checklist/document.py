"""The checklist as a page of the documentation."""

from collections.abc import Mapping

from assignors.labs import calls, delivery, watermark
from assignors.labs.checklist import SECTIONS, Page, Play, Row
from assignors.simulation import stories

DASHBOARD = "http://127.0.0.1:8501"
"""The address of a dashboard started by `make run` or `groupscope serve`."""

PAGES = {
    Page.PROTOCOL: "Protocol lab",
    Page.DELIVERY: "Delivery lab",
    Page.WATERMARK: "Watermark lab",
    Page.CALLS: "Call lab",
    Page.WHATIF: "What-if",
}

_HEAD = f"""# Stories

Common statements about Kafka's consumer groups, whether they hold in Kafka 4.3, and the stories that show it. The links
open a dashboard on this machine ({DASHBOARD}, as `make run` starts it); if yours runs elsewhere, use its address.
You can change every story on its page, download it as a file, and play it again.

This page is generated: `python -m assignors.labs.checklist > docs/stories.md`.
"""


def titles() -> Mapping[tuple[Page, str], str]:
    """The title of each story of the labs; examples of What-if have only names."""
    found = {(Page.PROTOCOL, name): story.name for name, story in stories.STORIES.items()}
    for page, lab in ((Page.DELIVERY, delivery), (Page.WATERMARK, watermark), (Page.CALLS, calls)):
        found |= {(page, name): story.title for name, story in lab.STORIES.items()}
    return found


def markdown() -> str:
    """The whole page."""
    named = titles()
    parts = [_HEAD]
    for title, rows in SECTIONS.items():
        parts += [f"\n## {title}\n\n| | Statement | In Kafka 4.3 | Stories |\n|---|---|---|---|\n"]
        parts += [_line(row, named) for row in rows]
    return "".join(parts)


def _line(row: Row, named: Mapping[tuple[Page, str], str]) -> str:
    played = "<br>".join(_link(play, named) for play in row.plays)
    cells = (row.row_id, row.claim, row.fact, "removed" if row.removed else played)
    return f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |\n"


def _link(play: Play, named: Mapping[tuple[Page, str], str]) -> str:
    title = named.get((play.page, play.story), play.story.replace("-", " "))
    assignor = f", {play.parameters['assignor']}" if "assignor" in play.parameters else ""
    return f"{PAGES[play.page]}: [{title}{assignor}]({DASHBOARD}{play.link})"
