"""Django's PostgreSQL backend with a cheaper look at a pooled connection; `base` is the name that Django asks for."""
