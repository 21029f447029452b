"""The bench: this product beside its peers and the bare database, in one run, in turns. Nothing here is the product."""
