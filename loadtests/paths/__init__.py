"""The eight failure paths as recorded runs: `python -m loadtests.paths`. Each file runs one or two and counts."""
