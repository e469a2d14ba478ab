"""``fuzzydict train``: word vectors from the Brown corpus, or from texts of one's own."""

from __future__ import annotations

from pathlib import Path

import click

from ._problems import Command, check_ending, check_place, told_in_a_line
from ._progress import progress_bar

_FEW = 10_000  # sentences, from which hardly any word's meaning can be learned


@click.command(
    "train",
    cls=Command,
    example="fuzzydict train --corpus notes.txt letters.txt -o mine.vectors",
)
@click.argument("files", metavar="[FILE]...", nargs=-1, type=click.Path(path_type=Path))
@click.option(
    "--corpus",
    metavar="FILE...",
    multiple=True,
    type=click.Path(path_type=Path),
    help="Train on these text files (UTF-8) instead of the Brown corpus.",
)
@click.option("--download", is_flag=True, help="Fetch the Brown corpus where it is missing.")
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    help="Where to save the vectors; by default brown.vectors, of --corpus words.vectors.",
)
@click.option(
    "--seed",
    type=click.IntRange(0, 2**32 - 1),
    default=1,
    show_default=True,
    help="Another seed, other vectors.",
)
@click.option(
    "--min-count",
    type=click.IntRange(min=1),
    default=2,
    show_default=True,
    help="Leave out words that occur less often.",
)
@told_in_a_line
def command(
    files: tuple[Path, ...],
    corpus: tuple[Path, ...],
    download: bool,
    output: Path | None,
    seed: int,
    min_count: int,
) -> None:
    """Train word2vec and save the vectors to a file that WordVectors.load opens.

    Without --corpus this makes what ships with the package, from the Brown corpus as nltk finds
    it (licensed for non-commercial use). The same machine and seed give the same file.
    """
    if files and not corpus:
        raise click.UsageError(f"unexpected argument {str(files[0])!r}; text files follow --corpus")
    if corpus and download:
        raise click.UsageError("--download fetches the Brown corpus, and --corpus does without it")
    texts_from = corpus + files
    output = output or Path("words.vectors" if corpus else "brown.vectors")
    check_place(output, texts_from)
    check_ending(output, "word vectors", "vectors")
    from fuzzydict import MissingCorpusError, WordVectors
    from fuzzydict.brown import brown_sentences
    from fuzzydict.corpus import read_sentences

    try:
        texts = read_sentences(texts_from) if corpus else brown_sentences(download=download)
    except MissingCorpusError as error:
        if download:
            raise
        raise MissingCorpusError(f"{error}; or with: fuzzydict train --download") from error
    few = ", which are few: meanings take tens of thousands" if len(texts) < _FEW else ""
    click.echo(f"training on {len(texts)} sentences{few}", err=True)
    with progress_bar("training") as progress:
        vectors = WordVectors.train(texts, min_count=min_count, seed=seed, progress=progress)
    vectors.save(output, dtype="int8")
    size = output.stat().st_size / 1e6
    click.echo(f"{len(vectors)} words, vectors of {vectors.size}: {output} ({size:.1f} MB)")
