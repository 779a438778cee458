"""Control on Lie groups: structured linearization of variational integrators, LQR, tracking. Source: fan."""

from .lqr import Regulator, lqr

__all__ = ["Regulator", "lqr"]
