"""Ridge regression of vectors on vectors, its weight chosen by leaving one out."""

from __future__ import annotations

from dataclasses import dataclass

import torch

STRENGTHS = tuple(10.0**power for power in range(-4, 5))  # × the mean variance of the inputs


@dataclass(frozen=True)
class Ridge:
    """A fitted regression y = ȳ + (x - x̄)·W; `error` is its mean squared error, left one out."""

    mean_x: torch.Tensor  # (A,)
    mean_y: torch.Tensor  # (B,)
    weights: torch.Tensor  # (A, B)
    penalty: float
    error: float

    def __call__(self, x: torch.Tensor) -> torch.Tensor:
        """Return the predictions (n, B) for inputs (n, A)."""
        return self.mean_y + (x - self.mean_x) @ self.weights


def fit_ridge(
    x: torch.Tensor, y: torch.Tensor, *, strengths: tuple[float, ...] = STRENGTHS
) -> Ridge:
    """Fit W = argmin ‖y - ȳ - (x - x̄)W‖² + λ‖W‖² for (n, A) inputs and (n, B) targets.

    λ is the one of least leave-one-out error. With x - x̄ = U S Vᵀ and f = S²/(S² + λ), row i
    predicted by all others misses by (yᵢ - ŷᵢ)/(1 - hᵢ), where hᵢ = 1/n + Σₖ Uᵢₖ² fₖ.
    """
    x, y = x.double(), y.double()
    mean_x, mean_y = x.mean(0), y.mean(0)
    centred, target = x - mean_x, y - mean_y
    squares, v = _singular_squares(centred)
    u = centred @ v / squares.sqrt()  # (n, K)
    projected = u.T @ target  # (K, B)
    penalties = [strength * float(squares.sum()) / x.shape[1] for strength in strengths]
    errors = [_left_out(u, squares / (squares + p), target, projected) for p in penalties]
    best = min(range(len(errors)), key=errors.__getitem__)
    shrunk = squares.sqrt() / (squares + penalties[best])
    weights = v @ (shrunk[:, None] * projected)
    return Ridge(mean_x.float(), mean_y.float(), weights.float(), penalties[best], errors[best])


def _left_out(
    u: torch.Tensor, f: torch.Tensor, target: torch.Tensor, projected: torch.Tensor
) -> float:
    """Return the mean squared error of each row predicted by all the others."""
    missed = target - u @ (f[:, None] * projected)  # (n, B)
    own = 1 / len(u) + (u * u) @ f  # (n,)
    missed /= (1 - own).clamp(min=1e-9)[:, None]
    return float((missed * missed).mean())


def _singular_squares(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Return S² (K,) and V (A, K) of x = U S Vᵀ, without what is zero but for rounding."""
    squares, v = torch.linalg.eigh(x.T @ x)
    solid = squares > squares.clamp(min=0).max() * 1e-12
    return squares[solid], v[:, solid]
