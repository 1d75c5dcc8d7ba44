"""scikit-learn's own checks of an estimator, for CORL and every method of ours; what fails is named with its reason."""

import pytest
import sklearn
from sklearn.utils.estimator_checks import check_estimator

import precede as pc
from precede.baselines import METHODS
from precede.estimator import CausalEstimator

WORDS = "the refusal names the column and what to do, in words of our own"
EXPECTED = {
    "check_complex_data": WORDS,
    "check_estimators_empty_data_messages": WORDS,
    "check_fit2d_1sample": WORDS,
    "check_fit2d_1feature": WORDS,
    "check_dtype_object": "columns of objects are read as categories or refused by what they hold",
}
HIDDEN_SCORE = "the option named score hides the method of that name"
OF_CORL = {
    "check_fit_score_takes_y": HIDDEN_SCORE,
    "check_n_features_in_after_fitting": HIDDEN_SCORE,
    "check_pipeline_consistency": HIDDEN_SCORE,
    "check_do_not_raise_errors_in_init_or_set_params": "n_samples is an old name that only the constructor takes",
}
QUICK = {
    "corl": {"score": "linear", "search": "local", "n_restarts": 0, "diagnose": False},
    "notears": {"max_iterations": 2},
    "notears-mlp": {"max_iterations": 1, "hidden_size": 2},
    "golem": {"n_iterations": 5},
    "dagma": {"warm_iterations": 5, "max_iterations": 5},
    "dag-gnn": {"max_steps": 1, "n_epochs": 1, "hidden_size": 4},
    "gran-dag": {"n_iterations": 5, "cutoff": None},
    "rl-bic2": {"n_iterations": 2, "batch_size": 4, "n_blocks": 1, "width": 16},
    "l1obs": {"n_evaluations": 50},
    "ica-lingam": {"n_starts": 1, "max_iterations": 25},
}


@pytest.mark.skipif(sklearn.__version__ < "1.7", reason="older checks have other names and no expected failures")
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", ["corl", *sorted(set(METHODS) - {"pc", "ges", "fci"})])
def test_scikit_learns_checks(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(CausalEstimator, "diagnose", False)
    model = pc.methods()[name](verbose=False, **QUICK.get(name, {}))
    expected = EXPECTED | OF_CORL if name == "corl" else EXPECTED
    done = check_estimator(model, expected_failed_checks=expected, on_fail=None, on_skip=None)
    status = {one["check_name"]: one["status"] for one in done}
    assert {check for check, how in status.items() if how == "failed"} == set()
    assert {check for check, how in status.items() if how == "xfail"} == set(expected)
    assert len(status) > 30
