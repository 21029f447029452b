"""One program for each peer, run in the peers' environment: no module here may import the product or its packages."""
