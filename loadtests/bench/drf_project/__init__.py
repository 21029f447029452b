"""The view that admission is measured against, as DRF's own pages would have it: a token, a serializer, one insert."""
