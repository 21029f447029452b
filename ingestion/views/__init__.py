"""HTTP in, one call down, HTTP out: the API's routes by subject."""
