"""The supervisor behind `make run`: starts what is not configured, shows that it works, stops it again.

No Django here: children know the product, the supervisor knows processes, addresses and signals. It starts
in a fraction of a second and survives anything that is wrong with the product.
"""
