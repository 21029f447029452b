"""The upper ends of the histograms' buckets, in seconds. One that is changed begins to be counted anew."""

# From a job that a free worker takes at once to the promise of 15 minutes and the longest wait of six hours.
JOBS = (0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 120.0, 300.0, 600.0, 900.0, 1_800.0, 3_600.0, 21_600.0)
# From a simulated answer to the timeout and a little beyond.
CALLS = (0.05, 0.1, 0.25, 0.5, 1.0, 2.0, 3.0, 5.0, 10.0, 20.0, 30.0)
