"""Options that can be read, changed and copied: the interface of scikit-learn's estimators, without importing it.

Importing scikit-learn takes as long as half of torch, and a fit needs nothing of it. What its ``clone``, grid searches
and pipelines ask of an estimator is in this file (``docs/decisions/017-what-stays-ours.md``).
"""

from __future__ import annotations

from copy import deepcopy
from inspect import signature
from reprlib import Repr
from typing import Any, Self, TypeVar

from precede.errors import OptionError, did_you_mean, listed

_SHORT = Repr()
_SHORT.maxstring = _SHORT.maxother = 80


class Parameterized:
    """An object whose options are the arguments of its constructor, each kept untouched under its name.

    Examples
    --------
    >>> class Circle(Parameterized):
    ...     def __init__(self, radius=1.0, filled=False):
    ...         self.radius, self.filled = radius, filled
    >>> Circle(radius=2.0)
    Circle(radius=2.0)
    >>> Circle().set_params(filled=True).get_params()
    {'radius': 1.0, 'filled': True}
    """

    @classmethod
    def option_names(cls) -> list[str]:
        """Names of the options, in the sequence of the constructor."""
        return list(signature(cls).parameters)

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Options by name.

        Parameters
        ----------
        deep : bool
            For scikit-learn; no option is an estimator, so that nothing depends on it.
        """
        return {name: getattr(self, name) for name in self.option_names()}

    def set_params(self, **options: Any) -> Self:
        """Change options; they are checked when they are used."""
        known = self.option_names()
        for name, value in options.items():
            if name not in known:
                hint = did_you_mean(name, known)
                raise OptionError(
                    f"{type(self).__name__} has no option {name!r};{hint} its options are {listed(known, len(known))}."
                )
            setattr(self, name, value)
        return self

    def __repr__(self) -> str:
        """The options that differ from their defaults."""
        defaults = {name: option.default for name, option in signature(type(self)).parameters.items()}
        changed = {name: value for name, value in self.get_params().items() if not _same(value, defaults[name])}
        return f"{type(self).__name__}({', '.join(f'{name}={_SHORT.repr(value)}' for name, value in changed.items())})"

    def _repr_html_(self) -> str:
        """As scikit-learn shows its estimators in a notebook."""
        from sklearn.utils import estimator_html_repr

        return str(estimator_html_repr(self))

    def __sklearn_tags__(self) -> Any:
        """What scikit-learn (from 1.6) asks of an estimator: this one takes no target."""
        from sklearn.utils import Tags, TargetTags

        return Tags(estimator_type=None, target_tags=TargetTags(required=False))


Model = TypeVar("Model", bound=Parameterized)


def unfitted(model: Model) -> Model:
    """A new one with copies of the same options, as scikit-learn's ``clone`` makes it."""
    return type(model)(**{name: deepcopy(value) for name, value in model.get_params(deep=False).items()})


def _same(value: object, default: object) -> bool:
    """Whether an option is left as it was; what cannot be compared was not."""
    try:
        return value is default or (type(value) is type(default) and bool(value == default))
    except (TypeError, ValueError):
        return False
