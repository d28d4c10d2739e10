"""How many findings there are, as text."""

from app.properties_advice import PropertiesAdvice
from app.ui.formats import plural
from assignors.advice import Severity


def verdict(advice: PropertiesAdvice) -> str:
    """ "1 error and 2 warnings in 12 settings"."""
    counts = [(advice.count(Severity.ERROR), "error"), (advice.count(Severity.WARNING), "warning")]
    counted = " and ".join(plural(count, word) for count, word in counts if count)
    return f"{counted or 'no findings'} in {plural(advice.settings, 'setting')}"
