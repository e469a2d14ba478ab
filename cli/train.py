"""``fuzzydict train``: word vectors from the Brown corpus or other texts."""

from pathlib import Path

import click

from ._options import FILE, check_place, option
from ._output import Command, echo, progress_bar

_FEW = 10_000  # sentences; with fewer, the meaning of words is not learned


@click.command(
    "train", cls=Command, example="fuzzydict train --corpus notes.txt letters.txt -o mine.vectors"
)
@click.argument("files", metavar="[FILE]...", nargs=-1, type=FILE)
@option("--corpus FILE...", "Train on UTF-8 text, not on the Brown corpus.", FILE, multiple=True)
@option("--download", "Download the Brown corpus if it is missing.", is_flag=True)
@option("-o --output FILE", "By default brown.vectors, or words.vectors with --corpus.")
@option("--seed", "Seed of the random numbers.", click.IntRange(0, 2**32 - 1), default=1)
@option("--min-count", "Leave out words that occur fewer times.", click.IntRange(1), default=2)
def command(
    files: tuple[Path, ...],
    corpus: tuple[Path, ...],
    download: bool,
    output: Path | None,
    seed: int,
    min_count: int,
) -> None:
    """Train word2vec and save the vectors to a file that WordVectors.load opens.

    A sentence ends with its full stop, question or exclamation mark, and at a blank line. In a file
    where less than a fifth of the lines have such a mark inside, each line is a sentence.

    Without --corpus it trains the built-in vectors again, from nltk's Brown corpus (licensed for
    non-commercial use). The same machine and seed give the same file. Another
    kind of processor gives slightly different vectors.
    """
    if files and not corpus:
        raise click.UsageError(
            f"unexpected argument {str(files[0])!r}; put --corpus before text files"
        )
    if corpus and download:
        raise click.UsageError(
            "--download is for the Brown corpus, which --corpus replaces; drop one"
        )
    texts_from = corpus + files
    output = output or Path("words.vectors" if corpus else "brown.vectors")
    check_place(output, *texts_from, content="word vectors", ending=".vectors")
    from fuzzydict import MissingCorpusError, WordVectors
    from fuzzydict.embedding.word2vec import brown_sentences, read_sentences

    try:
        texts = read_sentences(texts_from) if corpus else brown_sentences(download=download)
    except MissingCorpusError as error:
        if download:
            raise
        raise MissingCorpusError(f"{error}; or with: fuzzydict train --download") from error
    few = " (few: word meanings need tens of thousands)" if len(texts) < _FEW else ""
    echo(f"training on {len(texts)} sentence{'s' * (len(texts) != 1)}{few}", err=True)
    with progress_bar("training") as progress:
        vectors = WordVectors.train(texts, min_count=min_count, seed=seed, progress=progress)
    vectors.save(output, dtype="int8")
    size = output.stat().st_size / 1e6
    echo(f"{len(vectors)} words, vectors of {vectors.size}: {output} ({size:.1f} MB)")
