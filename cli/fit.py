"""``fuzzydict fit``: a dict that learns from examples, or projections learned from WordNet."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from fuzzydict import FuzzyDict, OptionError, WordVectors
from fuzzydict.review import is_undecided
from fuzzydict.text import quoted

from ._dicts import dict_options, told
from ._problems import Command, check_ending, check_place, told_in_a_line
from ._progress import progress_bar
from ._retrofit import fit_wordnet

_PROJECTIONS = Path("wordnet.projections")


@click.command(
    "fit",
    cls=Command,
    example="fuzzydict fit data/car.json data/car-questions.csv -o car.fuzzydict",
)
@click.argument("files", metavar="[DICT EXAMPLES]", nargs=-1, type=click.Path(path_type=Path))
@dict_options
@click.option("--wordnet", is_flag=True, help="Learn projections from WordNet, as nltk finds it.")
@click.option(
    "--exclude",
    metavar="FILE...",
    multiple=True,
    type=click.Path(path_type=Path),
    help="With --wordnet: learn from no pair that these retrieval sets (JSON) ask.",
)
@click.option(
    "-o",
    "--output",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help=f"Where to save; by default {_PROJECTIONS}, with --wordnet alone.",
)
@click.option(
    "--validation",
    metavar="SHARE",
    type=click.FloatRange(0, 0.5),
    help="Share of the examples held out, by which it is decided whether the dict is saved; by "
    "default 0.2. With 0 the examples decide alone.",
)
@click.option(
    "--epochs",
    type=click.IntRange(1),
    help="Passes over the examples, at most; by default 30.",
)
@click.option(
    "--seed",
    type=click.IntRange(0, 2**32 - 1),
    help="Another seed, another result; by default 0, and 1 with --wordnet.",
)
@told_in_a_line
def command(
    files: tuple[Path, ...],
    wordnet: bool,
    exclude: tuple[Path, ...],
    vectors: Path | None,
    output: Path | None,
    validation: float | None,
    epochs: int | None,
    seed: int | None,
    **reading: str | None,
) -> None:
    """Let the dict in the file DICT learn from EXAMPLES, print a report, and save the dict.

    EXAMPLES is a CSV, TSV or JSON Lines file with the columns query and target: the key that the
    query should find, or nothing where no key should match. A query that several keys are right
    for has a row for each; in JSON Lines the target may be an array of them.

    The dict is saved, in the format of d.save, if it answers the examples better, and those that
    it has not learned from come to no harm; if not, nothing is saved and the exit code is 1. A
    dozen examples tell little of others: --validation 0 saves it if the examples themselves are
    answered better.

    With --wordnet this makes what ships with the package as projections="wordnet".
    """
    learning = {"validation": validation, "epochs": epochs}
    if wordnet:
        _check_wordnet(files, exclude, reading | learning)
        fit_wordnet(output or _PROJECTIONS, exclude + files, vectors, seed)
        return
    if not files:
        raise click.UsageError("nothing to learn from; give DICT and EXAMPLES, or --wordnet")
    if len(files) != 2 or exclude:
        raise click.UsageError("expected two files, DICT and EXAMPLES; --exclude needs --wordnet")
    if output is None:
        raise click.UsageError("say where to save the dict: -o FILE.fuzzydict")
    _fit_dict(*files, output, vectors, learning | {"seed": seed or 0}, reading)


def _check_wordnet(
    files: tuple[Path, ...], exclude: tuple[Path, ...], of_dict: dict[str, Any]
) -> None:
    if files and not exclude:
        raise click.UsageError(
            f"unexpected argument {str(files[0])!r}; retrieval sets follow --exclude"
        )
    given = [f"--{name.replace('_', '-')}" for name in of_dict if of_dict[name] is not None]
    if given:
        raise click.UsageError(f"{given[0]} is for DICT, and --wordnet reads none")


def _fit_dict(
    dict_file: Path,
    examples_file: Path,
    output: Path,
    vectors: Path | None,
    learning: dict[str, Any],
    reading: dict[str, Any],
) -> None:
    sources = [dict_file, examples_file] + ([] if vectors is None else [vectors])
    check_place(output, sources)
    check_ending(output, "a saved dict (.fuzzydict)", "fuzzydict")
    from fuzzydict.dictfiles import open_dict
    from fuzzydict.examples import read_examples
    from fuzzydict.saving import check_items

    embedding = None if vectors is None else WordVectors.load(vectors)
    d = open_dict(dict_file, embedding=embedding, note=told, **reading)
    examples = read_examples(examples_file)
    _check_examples(d, examples, examples_file)
    check_items(d)  # before it learns in vain
    queries, targets = [query for query, _ in examples], [target for _, target in examples]
    with progress_bar("learning") as progress:
        report = d.fit(queries, targets, **learning, progress=progress)
    click.echo(str(report))
    if not report.kept:
        click.echo(f"nothing was saved to {output}, for the dict is as good as it was", err=True)
        sys.exit(1)
    d.save(output)
    click.echo(f"saved: {output} ({output.stat().st_size / 1e6:.1f} MB)")


def _check_examples(
    d: FuzzyDict[Any], examples: Sequence[tuple[str, str | None]], examples_file: Path
) -> None:
    """Let nothing be learned from no examples, or from guesses that nobody has looked at."""
    if not examples:
        raise OptionError(f"{examples_file}: it has no examples, so that there is nothing to learn")
    undecided = [
        (query, target)
        for query, target in examples
        if target is not None and target not in d and is_undecided(target)
    ]
    if undecided:
        query, target = undecided[0]
        raise OptionError(
            f"{examples_file}: {len(undecided)} targets are not decided on, first {quoted(target)} "
            f"for {quoted(query)}; write the right key, without the question mark, or nothing "
            f"where none is right, or remove the line"
        )
    stray = [(query, key) for query, key in examples if key is not None and key not in d]
    if stray:
        query, key = stray[0]
        raise OptionError(
            f"{examples_file}: {quoted(key)}, the target of {quoted(query)}, is no key of the "
            f"dict; write one of its keys, or nothing where none is right"
        )
