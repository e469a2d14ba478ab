"""Every command with wrong arguments: a line that says what was meant, and no file is changed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from fuzzydict import FuzzyDict
from tests.support.commands import refused

#: Stand for the beginning of a command.
BEGIN = {
    "MAP": "map codes.csv --key name --value code --column country",
    "JOIN": "join --on country",
    "FIT": "fit car.json -o o.fuzzydict",
    "TRAIN": "train -o o.vectors --corpus",
    "EXPLORE": "explore --no-browser",
}
#: A command, and a part of what is said of it.
MISUSE = """
--versoin -> No such option '--versoin' (did you mean '--version'?) (see
lookup qdrant://h/a --format=json x -> --format is for a file; DICT is a store, so leave it out
lookup qdrant://h/a --key=a x -> --key is for a file; DICT is a store, so leave it out
lookup qdrant://h/a --sheet=a x -> --sheet is for a file; DICT is a store, so leave it out
map qdrant://h/a t.csv --column a --dict-encoding=a -> --dict-encoding is for a file
lookpu car.json -> No such command 'lookpu' (did you mean 'lookup'?); valid are attend
lookup -> Missing argument 'DICT'
lookup no.json/ colour -> Invalid value for 'DICT': 'no.json/' names a folder
lookup car.json -q -> No such option '-q' (see
lookup car.json colour --score-cutoff -1 -> '--score-cutoff': expected a number from 0 to 1, got -1
lookup car.json colour --score-cutoff nan -> '--score-cutoff': expected a number from 0 to 1
lookup - colour -> 'DICT': expected the name of a file, got '-'
lookup car.json hue --synonyms one.csv -> --synonyms: one.csv: line 1 has 1 cell
lookup car.json --format tomll -> 'tomll' is not one of 'json', 'toml'
attend car.json colour speed -> Got unexpected extra argument (speed)
attend car.json colour --temperature 0 -> temperature must be a finite number above 0, got 0.0
attend car.json colour -n x -> '-n' / '--topn': 'x' is not a valid integer
attend car.json x --mask colour -> not a key of the dict (did you mean 'color'?); give
attend car.json x --plot w.pdf -> w.pdf: expected a name that ends in .png, .svg
evaluate --no-pairs -> nothing to measure; name a retrieval set
evaluate --no-peers --peer difflib -> drop one
train notes.txt -> unexpected argument 'notes.txt'; put --corpus before
train --corpus x --download -> --download is for the Brown corpus
TRAIN small.txt latin.txt -> latin.txt: byte 3 is not UTF-8
train --corpus small.txt -o small.txt -> is one of the files to read
FIT -> Missing argument 'EXAMPLES'
fit car.json good.csv -> Missing option '-o'
FIT good.csv --validation 0.6 -> 0.6 is not in the range
fit car.json good.csv -o car.json -> one of the files to read
fit built.toml good.csv -o o.fuzzydict -> the item of key 'built' cannot be saved:
train --corpus small.txt -o mine.fuzzydict -> mine.fuzzydict would hold word vectors, but its ending
EXPLORE car.json -o car.json -> car.json: expected a file that ends in .fuzzydict
EXPLORE car.json -o t.csv -> has no column 'query'
EXPLORE car.json -o bad.csv -> is not a key of the dict
EXPLORE codes.csv --key name --value code -o link.csv -> link.csv is one of the files to read
EXPLORE named.fuzzydict --format json -o named.fuzzydict -> is one of the files to read
EXPLORE car.json -o named.fuzzydict -> go on with it: fuzzydict explore named.fuzzydict -o named.fuz
EXPLORE built.toml -o built.fuzzydict -> 'built'
map car.json t.csv -> Missing option '--column'
map car.json t.csv --colum=x -> (did you mean '--column'?)
MAP built.toml -> names no table format; give --table-format
MAP t.parquet -> parquet needs a file to be written to (-o)
MAP t.csv --column n -> '--column' takes one value, and is given 2 times; keep one (see
map car.json open.csv --column c -> line 2
MAP t.csv -o t.tsv -> t.tsv would hold csv, but its ending says otherwise
MAP t.csv -o - -> '--output': expected the name of a file, got '-'
MAP t.csv -o codes.csv -> codes.csv is one of the files to read; save elsewhere
MAP - --table-format parquet -o o.parquet -> parquet cannot be read from standard input
MAP t.csv --review r.csv --sure 2 -> '--sure': expected a number from 0 to 1, got 2
MAP t.csv --review codes.csv -> codes.csv is one of the files to read; save elsewhere
MAP t.csv --decisions codes.csv -> codes.csv: has no column 'query'
map car.json t.csv --column cuontry -> has no column 'cuontry' (did you mean 'country'?)
MAP tables -> no place to write to; name one (-o)
MAP tables -o tables/out -> in it or around it; write to another folder
MAP t.csv --jobs 2 -o out/ -> 'out/' names a folder, and there is none
MAP - --jobs 2 -o o.csv --table-format csv -> standard input can be read only once
MAP t.csv --scheduler tcp://x:1 -o o.csv -> give --engine dask, too
MAP t.csv --engine dask --scheduler tcp://x:1 --jobs 2 -o o.csv -> its own number of workers; leave
join t.csv right.csv --one-to-one -> No such option '--one-to-one' (see
join t.csv right.csv -> no column to join on; give --on, or --left-on and --right-on
JOIN t.csv right.csv --left-on n -> --on names a column of both; drop it, or --l
JOIN t.csv right.csv -o right.csv -> right.csv is one of the files to read; save elsewhere
JOIN t.csv right.csv --synonyms s.csv -o s.csv -> s.csv is one of the files to read; save elsewhere
JOIN t.csv - -> 'RIGHT': expected the name of a file, got '-'
JOIN t.csv right.csv --score-cutoff 2 -> '--score-cutoff': expected a number from 0 to 1, got 2
"""
FILES = {
    "car.json": json.dumps({"color": "black", "brand": "Porsche"}),
    "built.toml": "color = 1\nbuilt = 2024-02-29\n",
    "named.fuzzydict": '{"color": "black"}',
    "codes.csv": "name,code\nGermany,DE\nFrance,FR\n",
    "t.csv": "n,country\n1,germany\n2,qwzzt\n",
    "right.csv": "country,code\nGermany,DE\n",
    "s.csv": "FR,France\n",
    "one.csv": "France\n",
    "good.csv": "query,target\nhue,color\n",
    "bad.csv": "query,target\nhue,colour\n",
    "small.txt": "Each word once.",
    "open.csv": 'c\n"open\n',  # refused at its first row, before the header is printed
    "tables/part.csv": "n,country\n1,germany\n",
}


@pytest.mark.parametrize("line", MISUSE.strip().split("\n"))
def test_misuse_is_a_line_that_says_what_was_probably_meant(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, line: str
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(FuzzyDict, "fit", lambda *_, **__: pytest.fail("it learns"))
    Path("tables/folder.csv").mkdir(parents=True)
    Path("link.csv").symlink_to("codes.csv")
    for name, content in FILES.items():
        Path(name).write_text(content)
    Path("latin.txt").write_bytes(b"caf\xe9")
    before = {path: path.is_file() and path.read_bytes() for path in tmp_path.rglob("*")}
    command, message = line.split(" -> ")
    first, *others = command.split(" ")
    told = refused(*BEGIN.get(first, first).split(), *others)
    assert message in told
    assert {path: path.is_file() and path.read_bytes() for path in tmp_path.rglob("*")} == before
    if "No such option" in told or "valid are" in told or "Missing" in told:
        assert "--help)" in told
