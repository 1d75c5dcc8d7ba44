"""Small tables made to be misread: what does ``precede discover`` claim about each, and what does it warn of?

    OMP_NUM_THREADS=1 python benchmarks/hostile_data.py [--tables trends hidden ...]

Prints edges with their confidences and marks, and the warnings. docs/probes.md says what was found; what was said
wrongly is a test in tests/evidence/checks/test_hostile_data.py.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable

import numpy as np
import pandas as pd

import precede as pc
from precede.errors import PrecedeError

ROWS = 800
Table = dict[str, np.ndarray]
Rng = np.random.Generator


def counts(rng: Rng) -> Table:
    visits = rng.poisson(3, ROWS)
    tests = rng.poisson(1 + 0.8 * visits)
    return {"visits": visits, "tests": tests, "bills": rng.poisson(1 + 0.5 * tests), "age": rng.poisson(40, ROWS)}


def indicators(rng: Rng) -> Table:
    smoker = rng.random(ROWS) < 0.3
    tar = rng.random(ROWS) < np.where(smoker, 0.6, 0.1)
    cancer = rng.random(ROWS) < np.where(tar, 0.5, 0.05)
    return {"smoker": 1 * smoker, "tar": 1 * tar, "cancer": 1 * cancer, "left_handed": 1 * (rng.random(ROWS) < 0.1)}


def outliers(rng: Rng) -> Table:
    x, y, noise = rng.normal(size=(3, ROWS))
    z = x + noise
    x[5] = y[5] = 60
    y[77], z[77] = -45, 50
    return {"x": x, "y": y, "z": z}


def ties(rng: Rng) -> Table:
    x = np.round(rng.normal(size=ROWS))
    y = np.round(x + rng.normal(size=ROWS))
    return {"x": x, "y": y, "z": np.round(y + rng.normal(size=ROWS))}


def hidden(rng: Rng) -> Table:
    cause = rng.normal(size=ROWS)
    ice, crime, pools = cause + 0.5 * rng.normal(size=(3, ROWS))
    return {"ice": ice, "crime": crime, "rain": rng.normal(size=ROWS), "pools": pools}


def saturated(rng: Rng) -> Table:
    heat = rng.normal(size=ROWS)
    pressure = 1.2 * heat + 0.7 * rng.normal(size=ROWS)
    flow = np.tanh(pressure) + 0.4 * rng.normal(size=ROWS)
    return {"heat": np.clip(heat, -0.7, 0.7), "pressure": pressure, "flow": flow}


def copies(rng: Rng) -> Table:
    x = rng.normal(size=ROWS)
    return {"x": x, "x_cm": 2.54 * x + 1, "y": x + rng.normal(size=ROWS)}


def nearly_constant(rng: Rng) -> Table:
    x, y = np.full(ROWS, 5.0), rng.normal(size=ROWS)
    x[:3] = [6, 5.5, 7]
    return {"x": x, "y": y, "z": y + rng.normal(size=ROWS), "w": 5 + 1e-9 * rng.normal(size=ROWS)}


def heavy_tails(rng: Rng) -> Table:
    x, noise, z = rng.standard_cauchy((3, ROWS))
    return {"x": x, "y": 0.5 * x + noise, "z": z}


def trends(rng: Rng) -> Table:
    t = np.arange(ROWS)
    storks, babies = 0.2 * rng.normal(size=(2, ROWS)).cumsum(axis=1)
    sine = np.sin(t / 60) + 0.2 * rng.normal(size=ROWS)
    return {"gdp": 0.01 * t + rng.normal(size=ROWS), "storks": storks + 0.005 * t, "babies": babies, "sine": sine}


def noise(rng: Rng) -> Table:
    return {name: rng.normal(size=ROWS) for name in "abcd"}


def gaussian_chain(rng: Rng) -> Table:
    return dict(zip("xyz", rng.normal(size=(3, ROWS)).cumsum(axis=0), strict=True))


def loop(rng: Rng) -> Table:
    u, v = np.linalg.solve([[1, -0.6], [-0.7, 1]], rng.normal(size=(2, ROWS)))
    return {"u": u, "v": v, "w": v + rng.laplace(size=ROWS)}


def selection(rng: Rng) -> Table:
    talent, looks, age = rng.normal(size=(3, 4 * ROWS))
    kept = talent + looks > 1
    return {"talent": talent[kept], "looks": looks[kept], "age": age[kept]}


def identifiers(rng: Rng) -> Table:
    return {"id": np.arange(ROWS), "x": rng.normal(size=ROWS), "group": rng.integers(1, 6, ROWS)}


TABLES: tuple[Callable[[Rng], Table], ...] = (
    counts, indicators, outliers, ties, hidden, saturated, copies, nearly_constant, heavy_tails, trends, noise,
    gaussian_chain, loop, selection, identifiers,
)  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tables", nargs="+", choices=[make.__name__ for make in TABLES], default=None)
    parser.add_argument("--seed", type=int, default=7)
    given = parser.parse_args()
    for make in TABLES:
        if given.tables is not None and make.__name__ not in given.tables:
            continue
        print(f"\n{make.__name__}")
        try:
            model = pc.CORL(random_state=0, verbose=False).fit(pd.DataFrame(make(np.random.default_rng(given.seed))))
        except PrecedeError as error:
            print(f"  refused: {error}", flush=True)
            continue
        found = model.diagnostics_
        for edge in found.edges:
            names = " -> ".join(str(model.graph_.names[k]) for k in (edge.cause, edge.effect))
            rests = "" if edge.influence is None else f", rests on {len(edge.influence.rows)} rows"
            print(f"  {names}: confidence {edge.confidence:.2f}, direction {edge.direction}{rests}")
        for sentence in found.warnings:
            print(f"  ! {sentence}", flush=True)


if __name__ == "__main__":
    main()
