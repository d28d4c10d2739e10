"""The loggers of Streamlit and uvicorn write through the handlers of the root logger, in their format.

Two messages of Streamlit are left out: they come with every start, and ask for nothing that anybody could do.

Streamlit gives each of its loggers, and those of uvicorn, a handler of its own, and its format is a template into which
a message goes unescaped: no JSON.

uvicorn sets its own handlers when it starts.

Checked against Streamlit 1.67.0 (`streamlit.logger.setup_formatter`) and uvicorn 0.54.0 (`LOGGING_CONFIG`). Unnecessary
once Streamlit leaves handlers to the application: https://github.com/streamlit/streamlit/issues/4742.
"""

import logging
from functools import partial

from streamlit import logger as streamlit_logger
from uvicorn.config import LOGGING_CONFIG

_LEFT_OUT = {
    "streamlit.runtime.caching.cache_data_api": "No runtime found",
    "streamlit.config": "An update to the [",
}
"""By logger, how the message begins."""


def leave_out_noise() -> None:
    """Of what Streamlit logs when it starts."""
    for name, begin in _LEFT_OUT.items():
        logging.getLogger(name).addFilter(partial(_is_other, begin))


def _is_other(begin: str, record: logging.LogRecord) -> bool:
    return not record.getMessage().startswith(begin)


def log_through_root() -> None:
    """For the loggers that there are and those to come."""
    streamlit_logger.setup_formatter = _without_handlers
    LOGGING_CONFIG["loggers"].clear()
    for logger in streamlit_logger._loggers.values():
        _without_handlers(logger)


def _without_handlers(logger: logging.Logger) -> None:
    logger.handlers.clear()
    logger.propagate = True
