"""The command ``fuzzydict``, also as ``python -m fuzzydict``."""

import sys


def main() -> None:
    """Run the command. Ctrl-C ends it quietly, even while what it needs is imported."""
    try:
        from fuzzydict.cli import main as command

        command(prog_name="fuzzydict")
    except KeyboardInterrupt:
        sys.exit(130)  # as in shells


if __name__ == "__main__":
    main()
