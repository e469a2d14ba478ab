"""``fuzzydict fit``: projections learned from WordNet."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from ._problems import Command, check_place, told_in_a_line


@click.command("fit", cls=Command)
@click.argument("files", metavar="[FILE]...", nargs=-1, type=click.Path(path_type=Path))
@click.option("--wordnet", is_flag=True, help="Learn from WordNet, as nltk finds it.")
@click.option(
    "--exclude",
    metavar="FILE...",
    multiple=True,
    type=click.Path(path_type=Path),
    help="Learn from no pair that these retrieval sets (JSON) ask.",
)
@click.option(
    "--vectors",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="The word vectors to fit, instead of those shipped.",
)
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    default="wordnet.projections",
    show_default=True,
    help="Where to save the projections.",
)
@click.option(
    "--seed",
    type=click.IntRange(0, 2**32 - 1),
    default=1,
    show_default=True,
    help="Another seed, other projections.",
)
@told_in_a_line
def command(
    files: tuple[Path, ...],
    wordnet: bool,
    exclude: tuple[Path, ...],
    vectors: Path | None,
    output: Path,
    seed: int,
) -> None:
    """Learn projections for word vectors, and save them.

    With --wordnet this makes what ships with the package as projections="wordnet". The same
    machine and seed give the same file.

    For example:

        fuzzydict fit --wordnet -o mine.projections
    """
    if not wordnet:
        raise click.UsageError("nothing to learn from; give --wordnet")
    if files and not exclude:
        raise click.UsageError(
            f"unexpected argument {str(files[0])!r}; retrieval sets follow --exclude"
        )
    excluded_by = exclude + files
    check_place(output, excluded_by if vectors is None else (*excluded_by, vectors))
    from fuzzydict import Brown, WordVectors
    from fuzzydict.retrieval import read_sets
    from fuzzydict.retrofitting import Recipe, wordnet_projections
    from fuzzydict.wordnet import asked_pairs

    excluded = asked_pairs(read_sets(excluded_by))
    embedding = Brown() if vectors is None else WordVectors.load(vectors)
    click.echo(f"learning from WordNet, without the {len(excluded)} pairs to exclude", err=True)
    with click.progressbar(length=1000, label="learning", file=sys.stderr) as bar:
        projections = wordnet_projections(
            embedding,
            excluded=excluded,
            recipe=Recipe(seed=seed),
            progress=lambda done, total: bar.update(1000 * done // total - bar.pos),
        )
    projections.save(output)
    size = output.stat().st_size / 1e6
    click.echo(f"projections for {projections.embedding}: {output} ({size:.1f} MB)")
