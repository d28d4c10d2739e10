"""The navigation, and the cluster picker when there is more than one cluster."""

from pathlib import Path

import streamlit as st

from app.server import source
from app.ui import state, widgets
from app.ui.pages import EMBEDDED_ONLY, PAGES

st.set_page_config(
    page_title="groupscope",
    page_icon=Path(__file__).with_name("icon.svg"),
    layout="wide",
    initial_sidebar_state="collapsed",
)

sections: dict[str, list[st.Page]] = {}
for info in PAGES:
    if info.name not in EMBEDDED_ONLY or source.current().demo is not None:
        entry = st.Page(info.script, title=info.title, url_path=info.name, default=info is PAGES[0], help=info.question)
        sections.setdefault(info.section, []).append(entry)

page = st.navigation(sections, position="top")
clusters = list(source.current().feeds)
if len(clusters) > 1:
    widgets.picker("Cluster", clusters, state.cluster(), "cluster_picker", state.choose_cluster, width=280)
page.run()
