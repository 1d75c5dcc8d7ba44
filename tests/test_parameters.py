"""Options of estimators: read, changed, copied and shown as scikit-learn does it."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

import precede as pc
from precede.errors import OptionError
from precede.estimator import CausalEstimator


class Circle(CausalEstimator):
    radius: float = 1.0
    center: object = None


def test_only_what_was_changed_is_shown() -> None:
    assert repr(Circle()) == "Circle()"
    assert repr(Circle(center=[0, 1])) == "Circle(center=[0, 1])"
    assert repr(Circle(radius=1)) == "Circle(radius=1)"  # a whole number is another value than the default
    assert len(repr(Circle(center=list(range(10_000))))) < 100
    assert repr(Circle(center=np.arange(2))) == "Circle(center=array([0, 1]))"


def test_an_option_that_is_not_there() -> None:
    with pytest.raises(OptionError, match="Circle has no option 'radus'; did you mean 'radius'"):
        Circle().set_params(radus=2.0)
    with pytest.raises(ValueError, match="its options are 'radius', 'center'"):
        Circle().set_params(color="red")


def test_a_copy_shares_nothing_and_knows_nothing() -> None:
    model = pc.baselines.EqVar(verbose=False).fit(np.random.default_rng(0).normal(size=(50, 3)))
    assert model.unfitted().get_params() == model.get_params()
    assert "graph_" not in vars(model.unfitted())
    center = [0.0]
    assert Circle(center=center).unfitted().center == center
    assert Circle(center=center).unfitted().center is not center


def test_scikit_learn_takes_our_estimators_for_its_own() -> None:
    values = pc.simulate(n_variables=6, degree=1, n_samples=200, random_state=0).data.to_numpy()
    model = pc.baselines.EqVar(verbose=False)
    fitted = Pipeline([("method", model)]).fit(values)["method"]
    check_is_fitted(fitted)
    assert "<style>" in model._repr_html_()
    assert clone(fitted).get_params() == model.get_params()

    def few_edges(found: pc.CORL, X: object, y: None = None) -> float:
        return -float(found.graph_.n_edges)

    search = GridSearchCV(model, {"pruning": ["none", "bic"]}, scoring=few_edges, cv=2).fit(values)
    assert search.best_params_ == {"pruning": "bic"}
