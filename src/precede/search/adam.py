"""Adam (Kingma and Ba 2015) over torch's own kernels.

``torch.optim.Adam`` has torch import its compiler, 800 modules and over a second, before its first step. The function
behind it does the same step without.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import torch
from torch import Tensor
from torch.optim.adam import adam

MOMENTS = ("step", "exp_avg", "exp_avg_sq")
"""What is kept of each parameter, by the names that torch gives it."""


class Adam:
    """Adam with torch's usual settings, in place and ready to be recorded in a CUDA graph.

    Parameters
    ----------
    parameters : iterable of Tensor
    learning_rate : float
    """

    def __init__(self, parameters: Iterable[Tensor], learning_rate: float) -> None:
        self.parameters, self.learning_rate = list(parameters), learning_rate
        self._moments = [
            {
                "step": torch.zeros((), device=parameter.device),
                "exp_avg": torch.zeros_like(parameter),
                "exp_avg_sq": torch.zeros_like(parameter),
            }
            for parameter in self.parameters
        ]

    @torch.no_grad()
    def step(self) -> None:
        """Move every parameter that has a gradient."""
        moved = [
            (parameter, parameter.grad, moments)
            for parameter, moments in zip(self.parameters, self._moments, strict=True)
            if parameter.grad is not None
        ]
        adam(
            [parameter for parameter, _, _ in moved],
            [gradient for _, gradient, _ in moved],
            [moments["exp_avg"] for _, _, moments in moved],
            [moments["exp_avg_sq"] for _, _, moments in moved],
            [],
            [moments["step"] for _, _, moments in moved],
            fused=True, amsgrad=False, beta1=0.9, beta2=0.999, lr=self.learning_rate, weight_decay=0.0, eps=1e-8,
            maximize=False,
        )  # fmt: skip

    def state(self) -> dict[str, Tensor]:
        """What a later run needs to go on, by "parameter number.moment"."""
        return {f"{k}.{name}": tensor for k, moments in enumerate(self._moments) for name, tensor in moments.items()}

    def restore(self, state: Mapping[str, Tensor]) -> None:
        """Go back to what :meth:`state` gave; KeyError or RuntimeError where it is of other parameters."""
        for k, moments in enumerate(self._moments):
            for name in MOMENTS:
                saved = state[f"{k}.{name}"]
                if saved.shape != moments[name].shape:
                    raise RuntimeError(f"{name} of parameter {k} has shape {tuple(saved.shape)}")
                moments[name].copy_(saved)
