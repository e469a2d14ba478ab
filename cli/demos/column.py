"""Clean a messy column: scores decide which cells are accepted, checked by a person, or left blank.

Scores of the default scorer are probabilities that the key is right. Cells with a high score are
accepted, those with a lower one are looked at, and those that match nothing are left blank. The sum
of 1 - score over the accepted cells is the expected number of mistakes among them.
"""

from fuzzydict import FuzzyDict
from fuzzydict.cli.demos import Picture, demo, echo
from fuzzydict.results.plotting import plot_heatmap

COUNTRIES = FuzzyDict(
    {
        "Austria": "AT",
        "Brazil": "BR",
        "France": "FR",
        "Germany": "DE",
        "Switzerland": "CH",
        "United Kingdom": "GB",
        "United States": "US",
    }
)
CELLS = [
    *("France", "FRANCE ", "Frnace", "germany", "Germny", "Austira", "Brasil", "Swizerland"),
    *("united-states", "UnitedStates", "Untied Kingdom", "the United States of America"),
    *("Unit", "Francis", "n/a", "?"),
]
SURE, POSSIBLE = 0.8, 0.1  # choose them by the cost of a mistake and of a look


@demo
def main() -> Picture:
    """Cleaning a messy column: take, look at, or leave blank."""
    taken = []
    shown = [cell for cell in CELLS if any(map(str.isalnum, cell))]  # others cannot be compared
    ranked = dict(zip(shown, COUNTRIES.most_similar(shown, topn=None), strict=True))
    for cell in CELLS:
        match = ranked[cell][0] if cell in ranked else None
        if match is None or match.score < POSSIBLE:
            echo(f"blank    {cell!r}")
        elif match.score < SURE:
            echo(f"look at  {cell!r}: {match.key}? ({match.score:.2f} sure)")
        else:
            taken.append(match)
            echo(f"take     {cell!r}: {match.key}, {match.value} ({match.score:.2f} sure)")
    mistakes = sum(1 - match.score for match in taken)
    echo(f"{len(taken)} of {len(CELLS)} cells taken, {mistakes:.1f} mistakes expected")
    keys = list(COUNTRIES)
    scores = [{match.key: match.score for match in ranked[cell]} for cell in shown]
    sure = [[row[key] for key in keys] for row in scores]
    labels = {"row_label": "cell", "column_label": "key", "label": "probability"}
    return lambda: plot_heatmap(sure, shown, keys, title="Which country is meant", **labels)


if __name__ == "__main__":
    main()
