"""CAM on a folder of data sets (``*.npz`` with ``data`` and ``adjacency``): SHD, TPR, order TPR and seconds.

python benchmarks/cam_files.py FOLDER --samples 500
"""

import argparse
import time
from pathlib import Path

import numpy as np

from precede.baselines.cam import CAM
from precede.metrics import evaluate


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--samples", type=int, default=500, help="first rows of each file")
    parser.add_argument("--selection", choices=["auto", "on", "off"], default="auto", help="preliminary selection")
    options = parser.parse_args()
    selection = {"auto": "auto", "on": True, "off": False}[options.selection]
    files = sorted(options.folder.glob("*.npz"), key=lambda path: (len(path.stem), path.stem))
    if not files:
        parser.error(f"no .npz files in {options.folder}")
    print(f"{'file':<12}{'SHD':>6}{'TPR':>8}{'FDR':>8}{'order TPR':>11}{'seconds':>9}")
    rows = []
    for path in files:
        with np.load(path) as archive:
            data, truth = archive["data"][: options.samples], archive["adjacency"]
        start = time.perf_counter()
        model = CAM(preliminary_selection=selection, verbose=False).fit(data)
        seconds = time.perf_counter() - start
        result = evaluate(model.graph_, truth)
        rows.append([result.shd, result.tpr, result.fdr, result.order_tpr, seconds])
        show(path.name, rows[-1])
    show("mean", np.mean(rows, axis=0))
    show("sd", np.std(rows, axis=0, ddof=1) if len(rows) > 1 else np.zeros(5))


def show(label: str, row: list[float] | np.ndarray) -> None:
    """Print one line of the table."""
    shd, tpr, fdr, order_tpr, seconds = row
    print(f"{label:<12}{shd:>6.1f}{tpr:>8.2f}{fdr:>8.2f}{order_tpr:>11.2f}{seconds:>9.2f}", flush=True)


if __name__ == "__main__":
    main()
