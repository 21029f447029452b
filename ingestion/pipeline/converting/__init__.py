"""HTML, PDF and Word files to Markdown, in a process of their own.

`running` belongs to the worker: it starts `__main__` under limits of time, memory and output. Everything else runs
there, sees one file and no secrets, and imports neither Django nor the database.
"""
