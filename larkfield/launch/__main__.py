"""`python -m larkfield.launch`: the command behind `make run`."""

import sys

from larkfield.launch.running import main

if __name__ == "__main__":
    sys.exit(main())
