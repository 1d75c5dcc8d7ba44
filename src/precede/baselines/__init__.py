"""Every method that the paper compares with, and those that an honest table needs beside them.

All are scikit-learn estimators with the fitted attributes of :class:`precede.estimator.CausalEstimator`.
"""

from precede.lazy import lazy_names, names_in_stub

__getattr__, __dir__, __all__ = lazy_names(__name__, names_in_stub(__file__))
