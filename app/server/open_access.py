"""The access of a server, by its settings."""

from app.server.access.access import Access
from app.server.compat import login
from app.server.settings import Settings
from lag.audit.log import AuditLog


def open_access(settings: Settings, audit: AuditLog) -> Access | None:
    """Who may see what; None: everybody everything. Raises ConfigError."""
    if not settings.has_login:
        return None
    providers = () if settings.login is None else login.check_login(settings.login)
    return Access(settings, providers, login.claims_of, audit=audit)
