"""``python -m fuzzydict``, which is the command ``fuzzydict``."""

from fuzzydict.cli import main

if __name__ == "__main__":
    main(prog_name="fuzzydict")
