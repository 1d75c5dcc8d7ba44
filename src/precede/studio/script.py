"""The Python script that gives a run again."""

from __future__ import annotations

from precede.estimator import CausalEstimator
from precede.report.provenance import code_for, code_for_loading
from precede.studio.messages import ChosenData, loading_of


def script_of(model: CausalEstimator, data: ChosenData, resamples: int = 0, seed: int = 0) -> str:
    """Load, fit and write, with the options of a model that are not the defaults.

    Parameters
    ----------
    model : CausalEstimator
    data : ChosenData
    resamples, seed : int
        Of the bootstrap.

    Examples
    --------
    >>> from precede.baselines import EqVar
    >>> print(script_of(EqVar(), {"path": "data.csv", "leave_out": ["id"], "types": {}}))
    from pathlib import Path
    <BLANKLINE>
    import precede
    from precede.report import write_report, write_results
    <BLANKLINE>
    data = precede.load_table('data.csv', leave_out=['id'])
    model = precede.baselines.EqVar()
    model.fit(data)
    write_results(Path('results'), model, data)
    write_report(Path('results'), model, data)
    <BLANKLINE>
    """
    made = code_for(model)
    assert made is not None  # every option that the page can set has a spelling
    fitted = made.split("\n\n", 1)[1]
    lines = [
        "from pathlib import Path\n",
        "import precede",
        "from precede.report import write_report, write_results\n",
        f"data = {code_for_loading(repr(data['path']), loading_of(data))}",
        fitted,
        "write_results(Path('results'), model, data)",
    ]
    said = ""
    if resamples:
        lines.append(f"confidence = model.bootstrap(data, {resamples}, random_state={seed})")
        lines.append("confidence.to_json('results/confidence.json')")
        said = ", confidence=confidence"
    return "\n".join([*lines, f"write_report(Path('results'), model, data{said})", ""])
