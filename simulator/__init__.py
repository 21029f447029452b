"""A simulated AI provider on the OpenAI wire: quotas, latencies, faults and a ledger, with made-up intelligence.

A program of its own. It imports nothing of the product, and the product reaches it over HTTP only.
"""
