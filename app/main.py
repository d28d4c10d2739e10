"""The navigation, and the cluster picker when there is more than one cluster."""

import time
from pathlib import Path
from typing import Literal

import streamlit as st

from app import plugins
from app.pages import BY_NAME, EMBEDDED_ONLY, FOR_ADMINS, IN_MENU, PAGES, PageInfo
from app.server import source
from app.server.compat.every_click import count_in_browser
from app.server.redraws import turns
from app.server.workers import pool
from app.ui import link_values, state, widgets

if not source.current().feeds and source.installed().access is not None:
    st.error("Your session has ended, or your role was removed. Reload the page.", icon=":material/lock:")
    st.stop()

pool.warm()
if source.current().settings.plugins:
    plugins.keep_ready()

ABOUT = """**groupscope** shows, predicts and explains Kafka consumer groups.

[About this server](about): versions, settings, age of the data, limits, bug reports.
"""
AUDIT = "\n[Audit](audit): who did what, when, and from where."


def entry(info: PageInfo) -> st.Page:
    """The page in the navigation."""
    visibility: Literal["visible", "hidden"] = "hidden" if info.name in IN_MENU else "visible"
    title, is_first = info.title, info is PAGES[0]
    return st.Page(
        info.script, title=title, url_path=info.name, default=is_first, visibility=visibility, help=info.question
    )


def is_listed(info: PageInfo) -> bool:
    """Whether the page is there for this visitor."""
    its = source.current()
    return (info.name not in EMBEDDED_ONLY or its.demo is not None) and (info.name not in FOR_ADMINS or its.is_admin)


sections: dict[str, list[st.Page]] = {}
for info in PAGES:
    if is_listed(info):
        sections.setdefault(info.section, []).append(entry(info))

page = st.navigation(sections, position="top")
st.set_page_config(
    page_title=f"{page.title} · groupscope",
    page_icon=Path(__file__).with_name("icon.svg"),
    layout="wide",
    initial_sidebar_state="collapsed",
    menu_items={"About": ABOUT + (AUDIT if source.current().is_admin else "")},
)
count_in_browser()
state.carry_group(BY_NAME[page.url_path or PAGES[0].name])
clusters = list(source.current().feeds)
if len(clusters) > 1:
    widgets.picker("Cluster", clusters, state.cluster(), "cluster_picker", state.choose_cluster, width=280)
link_values.forget_ignored()
above = st.container()
began_s = time.thread_time()
try:
    page.run()
finally:  # also after a page has stopped itself
    turns.took(time.thread_time() - began_s)
    for sentence in link_values.ignored():
        above.markdown(f":small[:orange[:material/link_off: Ignored in the link:] {sentence}]")
