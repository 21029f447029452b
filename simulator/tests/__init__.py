"""The simulator's promises, each in a file: pure parts alone, the wire through HTTP and the official client."""
