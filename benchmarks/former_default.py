"""The score that the default reaches beside that of the former default, which trained a policy from random weights.

    python benchmarks/former_default.py --former FOLDER --cases "lingam 30" --seeds 0 1 2 3 4 [--former-time 300]

FOLDER is ``src`` of commit 37ee9fa or of any other, for example ``git archive 37ee9fa src | tar -x -C FOLDER``: that
code is run in a process of its own, on the same rows and with the score that ``CORL()`` chose here. Its order is then
scored by the score of today, so that both figures are of the same kind.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from default_times import CASES, SIMULATED

CASES = {**CASES, "gp 10": {"n_variables": 10, "sem": "gp", "n_samples": 1000}}

FORMER = """
import json, sys
import numpy as np
import precede as pc
data, score, seed, max_time = json.loads(sys.argv[1])
model = pc.CORL(score=score, max_time=max_time, diagnose=False, device="cpu", random_state=seed, verbose=False)
model.fit(np.load(data))
print(json.dumps([model.score_, [int(v) for v in model.causal_order_]]))
"""


def compare(case: str, seed: int, former: Path, former_time: float | None) -> dict[str, object]:
    """Scores and seconds of both on one data set."""
    import torch

    import precede as pc
    from precede.data.load import load_table
    from precede.knowledge import Constraints
    from precede.scores.build import build_score

    values = pc.simulate(**{**SIMULATED, **CASES[case]}, random_state=seed).data.to_numpy()
    start = time.perf_counter()
    model = pc.CORL(diagnose=False, device="cpu", random_state=seed, verbose=False).fit(values)
    seconds, name = time.perf_counter() - start, model.diagnostics_["score"]
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder) / "values.npy"
        np.save(data, values)
        asked = json.dumps([str(data), name, seed, former_time])
        start = time.perf_counter()
        paths = os.pathsep.join([str(former), os.environ.get("PYTHONPATH", "")])
        done = subprocess.run(
            [sys.executable, "-c", FORMER, asked],
            capture_output=True, text=True, env={**os.environ, "PYTHONPATH": paths},
        )  # fmt: skip
        former_seconds = time.perf_counter() - start
    if done.returncode:
        return {"score": name, "failed": (done.stderr.strip() or str(done.returncode)).splitlines()[-1]}
    said, order = json.loads(done.stdout)
    score = build_score(name, load_table(values), Constraints.none(values.shape[1]), device=torch.device("cpu"))
    again = score.score_of(np.array(order))
    return {
        "score": name, "now": model.score_, "former": again, "former_said": said,
        "gain": round(model.score_ - again, 2), "seconds": round(seconds, 1),
        "former_seconds": round(former_seconds, 1),
    }  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--former", type=Path, required=True)
    parser.add_argument("--cases", nargs="+", default=["linear 30", "lingam 30", "gp 10"], choices=list(CASES))
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2, 3, 4])
    parser.add_argument("--former-time", type=float, help="seconds that the former search may take")
    arguments = parser.parse_args()
    for seed in arguments.seeds:
        for case in arguments.cases:
            said = compare(case, seed, arguments.former.resolve(), arguments.former_time)
            print(f"{case:12} seed {seed}  {json.dumps(said)}", flush=True)


if __name__ == "__main__":
    main()
