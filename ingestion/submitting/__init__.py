"""Sending documents in from outside: over HTTP as any caller does, obeying refusals. No database here."""
