"""``python -m giantstep`` is the command ``giantstep``."""

import sys

from giantstep.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
