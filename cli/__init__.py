"""The ``fuzzydict`` command. Each subcommand is a module here, imported when it is used."""

import click

from fuzzydict.embedding.word_vectors import BROWN, ENGLISH, LICENCES

from ._output import Group

__all__ = ["main"]

_NAMES = ["attend", "demo", "evaluate", "explain", "explore", "fit", "join", "lookup", "map"]
_NAMES += ["push", "train"]
_COMMANDS = {name: f"fuzzydict.cli.{name}:command" for name in _NAMES}
_COMMANDS["demo"] = "fuzzydict.cli.demos:command"
_VERSION = f"""\
%(prog)s %(version)s
code: MIT
default word vectors: {LICENCES[BROWN]}
--embedding english: {LICENCES[ENGLISH]}"""


@click.group(
    cls=Group,
    members=_COMMANDS,
    example="fuzzydict lookup data/car.json colour topSpeed",
    context_settings={"help_option_names": ["--help", "-h"]},
)
@click.version_option(package_name="fuzzydict", message=_VERSION)
def main() -> None:
    """Look up keys by meaning and spelling.

    Exit codes: 0 if the work was done, 1 if lookup, explain or attend found nothing for a query,
    if fit saved nothing, or as --fail-unmatched says, 2 if a file or an argument is wrong, 3 if
    fuzzydict has a bug, 129, 130 or 143 after a signal.

    The default word vectors are for non-commercial use; `--embedding english` is free for
    commercial use.
    """
