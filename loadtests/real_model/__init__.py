"""A real small embedding model behind an OpenAI-compatible door, to judge search on real vectors.

The program (`__main__`) runs in an environment of its own and imports nothing of the product; `replies` is pure.
"""
