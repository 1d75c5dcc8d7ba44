"""What a search says of itself."""

from dataclasses import asdict, dataclass

from precede.runtime import Deadline
from precede.strict_json import JsonObject


@dataclass
class SearchRecord:
    """Who found what; None where it was not done.

    Parameters
    ----------
    best_score : float
    kind : {"policy", "local", "exact", "none"}
        Which search was taken: "policy" trained, the others did not.
    why : str
        What asked for it, or what it was taken for.
    greedy_score : float or None
        Of the greedy order, where it was finished in its share of the time.
    policy_score : float or None
        Best that the policy proposed itself, before any polish.
    policy_order : list of int or None
        The first order of a pretrained policy, or the best of one that was trained from scratch.
    polish_gain : float or None
        What polish added to the best of its starts: greedy, given, and the order of a pretrained policy.
    polish_moves : int or None
    climbs_agree : bool or None
        Whether the climbs from the policy's and from the greedy order ended at the same score.
    rl_gain : float or None
        What reinforcement learning added after that: its proposals, polished.
    iterations : int
        Of training.
    seconds : float
    interrupted, out_of_time : bool
        Whether Ctrl-C, SIGTERM or the time limit cut the search short.
    exact : bool
        Whether the order is proved to be the best.
    """

    best_score: float
    kind: str = "local"
    why: str = "as asked"
    greedy_score: float | None = None
    policy_score: float | None = None
    policy_order: list[int] | None = None
    polish_gain: float | None = None
    polish_moves: int | None = None
    climbs_agree: bool | None = None
    rl_gain: float | None = None
    iterations: int = 0
    seconds: float = 0.0
    interrupted: bool = False
    out_of_time: bool = False
    exact: bool = False

    def end(self, deadline: Deadline, out_of_time: bool) -> None:
        """Note how long it took, and what cut it short."""
        self.seconds, self.interrupted = deadline.elapsed(), deadline.cancelled
        self.out_of_time = out_of_time and not deadline.cancelled

    def to_dict(self) -> JsonObject:
        """JSON-ready, without what was not done."""
        return {name: value for name, value in asdict(self).items() if value is not None} | {"sentence": self.sentence}

    @property
    def sentence(self) -> str:
        """Which search it was and why, in the first line that people read."""
        trained = f"trained for {self.iterations} iteration{'' if self.iterations == 1 else 's'}"
        did = {"policy": trained, "local": "nothing was trained", "exact": "every order was weighed"}
        return f"Search: {self.kind}{f', {did[self.kind]}' if self.kind in did else ''} ({self.why})."
