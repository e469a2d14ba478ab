"""``fuzzydict fit --wordnet``: projections learned from WordNet."""

from __future__ import annotations

from pathlib import Path

import click

from ._problems import check_ending, check_place
from ._progress import progress_bar

__all__ = ["fit_wordnet"]

_SEED = 1  # of the projections that come with the package


def fit_wordnet(
    output: Path, excluded_by: tuple[Path, ...], vectors: Path | None, seed: int | None
) -> None:
    """Learn projections from WordNet, except from pairs in the retrieval sets, and save them."""
    sources = excluded_by if vectors is None else (*excluded_by, vectors)
    check_place(output, sources)
    check_ending(output, "projections", "projections")
    from fuzzydict import Brown, WordVectors
    from fuzzydict.evaluation.datasets import read_sets
    from fuzzydict.learning.wordnet import Recipe, asked_pairs, wordnet_projections

    excluded = asked_pairs(read_sets(excluded_by))
    embedding = Brown() if vectors is None else WordVectors.load(vectors)
    click.echo(f"learning from WordNet, without the {len(excluded)} pairs to exclude", err=True)
    with progress_bar("learning") as progress:
        projections = wordnet_projections(
            embedding,
            excluded=excluded,
            recipe=Recipe(seed=_SEED if seed is None else seed),
            progress=progress,
        )
    projections.save(output)
    size = output.stat().st_size / 1e6
    click.echo(f"projections for {projections.embedding}: {output} ({size:.1f} MB)")
