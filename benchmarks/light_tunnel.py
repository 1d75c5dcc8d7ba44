"""A simulated light tunnel with a known graph: five actuators, nine sensors, 27 edges.

    OMP_NUM_THREADS=1 python benchmarks/light_tunnel.py [--rows 1000] [--seed 0] [--seeds 1]

The simulator is ``lt.Deterministic`` of causalchamber (constraints-peers.txt), with the parameters that its authors
fitted to the physical tunnel. Colors are whole numbers from 0 to 255, polarizers turn by up to 90 degrees; sensors have
noise of 2 % of their spread and show one decimal. Columns are standardized and shuffled. FLOP is the package flopsearch
(penalty 2, 20 restarts), its CPDAG turned into a member of the class, if it is there.
"""

from __future__ import annotations

import argparse
import time
from importlib import import_module
from importlib.util import find_spec

import causalchamber.simulators.lt as lt
import numpy as np
import pandas as pd

import precede as pc
from precede.graph.dags import consistent_extension

PARAMETERS = {
    "S": np.array([[4.34165202, 2.8594438, 1.91565691], [0.89410569, 1.58679242, 2.68477163]]),
    "d1": np.array(0.1),
    "d2": np.array(0.17),
    "d3": np.array(0.25),
    "Ts": np.array([0.42685688, 0.41231782, 0.46652526]),
    "Tp": np.array([0.2909342, 0.29624314, 0.30526271]),
    "Tc": np.array([0.00431032, 0.01447611, 0.02041075]),
    "Q": np.array([0.12834946, 0.12870338, 0.13078523]),
    "C0": np.array(58.13307318503893),
    "A": np.array(1.42261211),
    "a1": np.array(506.8049747171294),
    "a2": np.array(510.98343062774353),
}
COLORS, POLARIZERS = ("red", "green", "blue"), ("pol_1", "pol_2")
FIXED = {"diode": 2.0, "t": 3.0, "v": 5.0}
"""Settings of the sensors, by the first part of their name."""

METHODS: dict[str, dict[str, object]] = {
    "policy": {"score": "policy", "n_iterations": 0},
    "default": {},
    "sparse-linear": {"score": "sparse-linear"},
    "nongaussian": {"score": "nongaussian"},
}


def light_tunnel(n_rows: int, seed: int) -> tuple[pd.DataFrame, pc.CausalGraph]:
    rng = np.random.default_rng(seed)
    simulator = lt.Deterministic(**PARAMETERS)
    actuators = pd.DataFrame(
        {color: rng.integers(0, 256, n_rows).astype(float) for color in COLORS}
        | {name: rng.uniform(-90, 90, n_rows).round(1) for name in POLARIZERS}
    )
    fixed = {name: FIXED[name.split("_")[0]] for name in simulator.inputs_names if name not in actuators}
    shown = simulator.simulate_from_inputs(actuators.assign(**fixed))
    sensors = pd.DataFrame(np.array(shown).T, columns=simulator.outputs_names)
    noise = 0.02 * sensors.std().to_numpy() * rng.normal(size=sensors.shape)
    data = pd.concat([actuators, (sensors + noise).round(1)], axis=1)
    truth = pd.DataFrame(0, index=data.columns, columns=data.columns)
    for sensor in simulator.outputs_names:
        if not sensor.startswith("angle"):
            truth.loc[list(COLORS), sensor] = 1
        if sensor.endswith("_3"):  # behind both polarizers
            truth.loc[list(POLARIZERS), sensor] = 1
    truth.loc["pol_1", "angle_1"] = truth.loc["pol_2", "angle_2"] = 1
    standard = (data - data.mean()) / data.std(ddof=0)
    return standard[list(rng.permutation(data.columns))], pc.CausalGraph.from_matrix(truth)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--seeds", type=int, default=1)
    options = parser.parse_args()
    found: dict[str, list[tuple[float, float, float]]] = {}
    for seed in range(options.seed, options.seed + options.seeds):
        data, truth = light_tunnel(options.rows, seed)
        for name, settings in METHODS.items():
            start = time.perf_counter()
            model = pc.CORL(random_state=0, verbose=False, diagnose=False, **settings).fit(data)
            score = str(model.diagnostics_["score"])
            found.setdefault(name, []).append(show(name, score, seed, model.graph_, truth, start))
        if find_spec("flopsearch") is not None:
            start = time.perf_counter()
            graph = flop(data)
            found.setdefault("flop", []).append(show("flop", "", seed, graph, truth, start))
    for name, rows in found.items():
        print(
            "{:14} mean of {}: F1 {:.2f}  SHD {:.1f}  order TPR {:.2f}".format(name, len(rows), *np.mean(rows, axis=0))
        )


def flop(data: pd.DataFrame) -> pc.CausalGraph:
    pattern = np.asarray(import_module("flopsearch").flop(data.to_numpy(dtype=float, copy=True), 2.0, restarts=20)) > 0
    member = consistent_extension(pattern, np.arange(len(pattern)))
    edges = pattern & ~pattern.T if member is None else member  # transposed: what is directed
    return pc.CausalGraph.from_matrix(pd.DataFrame(edges.astype(int), index=data.columns, columns=data.columns))


def show(
    name: str, score: str, seed: int, graph: pc.CausalGraph, truth: pc.CausalGraph, start: float
) -> tuple[float, float, float]:
    found = pc.evaluate(graph, truth)
    print(
        f"{name:14} seed {seed}  score {score:14} F1 {found.f1:.2f}  SHD {found.shd}  "
        f"order TPR {found.order_tpr:.2f}  {time.perf_counter() - start:.0f} s",
        flush=True,
    )
    return found.f1, found.shd, found.order_tpr or 0.0


if __name__ == "__main__":
    main()
