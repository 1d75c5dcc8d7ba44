"""What the page asks for, checked, and the estimator that it means."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated, Any

from precede.corl.estimator import make_method, methods
from precede.errors import OptionError, check_choice
from precede.estimator import CausalEstimator
from precede.knowledge import Knowledge
from precede.options import Options, Range, check_options, declared
from precede.report.folder import load_results
from precede.scores.build import SCORE_NAMES
from precede.scores.policy_prior import WEIGHT
from precede.strict_json import JsonObject

OPTIONS = ("score", "search", "pruning", "hidden", "noise", "max_time", "n_iterations", "patience")
"""Options that the page may set; none of them names a file."""

LONGEST_NAME = 80


@dataclass(frozen=True)
class RunRequest:
    """A run as it is asked for.

    Parameters
    ----------
    name : str
        What the user calls it.
    method : str
    options : dict of str
        Texts by name, as after ``--set`` on the command line.
    knowledge : dict
        The fields of :class:`precede.Knowledge`.
    start : str or None
        The run whose order to start from.
    seed : int
    resamples : int
        Of the bootstrap; 0 for none.
    outcome : str or None
        The variable whose causes the report begins with.
    """

    name: str = ""
    method: str = "corl"
    options: dict[str, str] = field(default_factory=dict)
    knowledge: JsonObject = field(default_factory=dict)
    start: str | None = None
    seed: Annotated[int, Range(least=0, most=2**31)] = 0
    resamples: Annotated[int, Range(least=0, most=1000)] = 0
    outcome: str | None = None

    @classmethod
    def read(cls, content: Any) -> RunRequest:
        """From the JSON of a request; what is of another shape is refused in a sentence."""
        if not isinstance(content, dict):
            raise OptionError("a request for a run holds named values.")
        given = {name: content[name] for name in declared(cls) if content.get(name) not in (None, "")}
        check_options(cls, given)
        asked = cls(**given)
        check_choice("method", asked.method, methods())
        if not set(asked.options) <= set(OPTIONS) or not all(isinstance(text, str) for text in asked.options.values()):
            raise OptionError(f"options are texts, for {', '.join(OPTIONS)}.")
        Knowledge.from_dict(asked.knowledge)
        texts = {name: text for name, text in asked.options.items() if text != ""}
        return replace(asked, name=asked.name[:LONGEST_NAME], options=texts)

    def model(self, earlier: Options | None = None) -> CausalEstimator:
        """The estimator; where an earlier result is given, one that starts from its order.

        Parameters
        ----------
        earlier : dict, optional
            See :func:`earlier_result`.
        """
        given: Options = {}
        rules = {name: value for name, value in self.knowledge.items() if value}
        if rules:
            given["knowledge"] = Knowledge.from_dict(rules)
        for name, value in (("random_state", self.seed), ("verbose", False)):
            if name in methods()[self.method].option_names():
                given[name] = value
        if earlier is not None and self.method == "corl":
            same = self.options.get("score", "auto") in ("auto", earlier.get("score"))
            if not {"search", "n_iterations", "patience"} & set(self.options):
                given["n_iterations"] = 0
            # with what "auto" chose then: the data are the same
            given |= earlier if same else {"initial_order": earlier["initial_order"]}
        return make_method(self.method, given, {name: text for name, text in self.options.items() if name not in given})


def earlier_result(folder: Path) -> Options:
    """The order of a run that is there, and the options of its score as they were settled."""
    found = load_results(folder)
    settings, known = found.description["settings"], found.description["diagnostics"]
    options: Options = {name: settings[name] for name in ("score", "policy_weight") if name in settings}
    chosen = known.get("score_choice")
    if options.get("score") == "auto" and chosen is not None:
        options["score"] = chosen["name"]
        if chosen.get("informed") and options.get("policy_weight") == "auto":
            options["policy_weight"] = WEIGHT
    known_score = options.get("score") in (*SCORE_NAMES, "policy", "vote")
    return {"initial_order": [str(name) for name in found.graph.order], **(options if known_score else {})}
