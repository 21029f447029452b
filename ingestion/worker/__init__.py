"""The worker: claims, runs, keeps leases, sweeps, drains. Threads run jobs; the main thread only coordinates."""

# Connections for all job threads, the coordinator and the heartbeat together; the listener has one of its own.
POOL_MAX = 3
