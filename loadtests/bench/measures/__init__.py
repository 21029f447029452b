"""One file for each thing that the bench measures; each has `measure(passes=…, short=…)`."""
