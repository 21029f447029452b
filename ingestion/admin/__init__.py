"""Django's admin over the tables, a file a room: read-only, but for the few changes that can break no rule.

Jobs are retried and cancelled by the same functions as over HTTP, a quarantined event gets another payload through
`repairing`, a caller another token through `callers`. What breaks an invariant is open to nobody, superusers included.
"""

from django.contrib import admin

from ingestion.admin import callers, calls, documents, events, jobs

__all__ = ["callers", "calls", "documents", "events", "jobs"]

admin.site.site_header = admin.site.site_title = "Larkfield"
