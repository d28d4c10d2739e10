"""Who reads this topic, and who is behind?"""

from app import state, widgets
from app.parts import topics as parts

widgets.follow()
page = widgets.require_report()
chosen = state.url("topic")
if chosen is None:
    parts.all_topics(page)
else:
    parts.one_topic(page, chosen)
