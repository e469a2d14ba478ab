"""``fuzzydict fit``: remember examples and learn from them."""

import sys
from pathlib import Path
from typing import Any

import click

from fuzzydict import FuzzyDict, OptionError
from fuzzydict.errors import quoted
from fuzzydict.io.review import is_undecided, read_examples
from fuzzydict.mapping import suggestion
from fuzzydict.saving import check_items

from ._options import FILE, SCORER, check_place, dict_command, option
from ._output import echo, echo_text, progress_bar, with_options


@dict_command("fit", "data/car.json data/car-questions.csv -o car.fuzzydict", scored_by=(SCORER,))
@click.argument("examples_file", metavar="EXAMPLES", type=FILE)
@option("-o --output FILE", "File to write (.fuzzydict).", required=True)
@option("--remember/--no-remember", "Whether each example is answered as shown.", default=True)
@option(
    "--validation SHARE",
    "Share of the examples that decide whether what is learned is kept; by default 0.2. With 0 "
    "all decide. If it is given, fewer than 100 examples are learned from, too.",
    click.FloatRange(0, 0.5),
)
@option("--epochs", "Most passes over the examples; by default 15.", click.IntRange(1))
@option("--seed", "Seed of the random numbers.", click.IntRange(0, 2**32 - 1), default=0)
def command(d: FuzzyDict[Any], examples_file: Path, output: Path, **options: Any) -> None:
    """Fit the dict in DICT to EXAMPLES, print a report, and save the dict.

    EXAMPLES is a CSV, TSV or JSON Lines file with the columns query and target. The target is the
    key that the query should find, or empty if no key should match. If several keys are right,
    give each a row; in JSON Lines the target may also be an array. Targets that begin with a
    question mark, as those of a review, are undecided and left out.

    The dict remembers the examples. From 100 on, it also learns what other queries mean, and keeps
    that if held-out examples are answered better. The dict is saved, unless
    nothing was remembered and nothing kept; then the exit code is 1.
    """
    content = "a saved dict (.fuzzydict)"
    check_place(output, examples_file, content=content, ending=".fuzzydict")
    targets = _targets(d, examples_file)
    check_items(d)  # before the work, not after it
    with progress_bar("learning") as progress:
        report = d.fit(targets, progress=progress, **options)
    is_better = report.kept or report.remembered
    if is_better:
        d.save(output)  # before a reader of the report may leave
    echo_text(with_options(str(report)))
    if not is_better:
        echo(f"nothing was saved to {output}: the dict did not get better", err=True)
        sys.exit(1)
    echo(f"saved: {output} ({output.stat().st_size / 1e3:,.0f} kB)")


def _targets(d: FuzzyDict[Any], examples_file: Path) -> dict[str, list[str] | None]:
    """Return the right keys of each query, or None; leave undecided targets out, and say so."""
    examples, targets, undecided = read_examples(examples_file), dict[str, Any](), 0
    for query, key in examples:
        if key is None or key in d:
            targets[query] = None if key is None else [*(targets.get(query) or ()), key]
        elif is_undecided(key):
            undecided += 1
        else:
            raise OptionError(
                f"{examples_file}: {quoted(key)}, the target of {quoted(query)}, is not a key of "
                f"the dict{suggestion(key, d)}; write one of its keys, or nothing if none is right"
            )
    if not targets:
        why = "; add some"
        if undecided:
            why = f" with a decision: all {undecided} are undecided; write the right keys"
        raise OptionError(f"{examples_file}: has no examples{why}")
    if undecided:
        echo(f"left out: {undecided} of {len(examples)} examples are undecided", err=True)
    return targets
