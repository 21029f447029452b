"""Search measured at size: a library that is put there, passes in turns, and what the approximate index misses."""
