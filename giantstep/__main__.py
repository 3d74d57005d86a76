"""``python -m giantstep`` is the command ``giantstep``."""

from giantstep.cli.main import program

if __name__ == "__main__":
    program()
