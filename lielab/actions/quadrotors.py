"""The product action of quadrotors that carry a load by rigid links (celledoni 6.1).

Points are x, v of the load, then R, Omega of each quadrotor, then q, w of each link: 6 + 18 n numbers. The
group is R^6 x (SO(3) x R^3)^n x SE(3)^n; algebra vectors have 6 + 12 n entries in the same order. SO(3) x R^3
is the *direct* product, (B, b).(R, Omega) = (B R, Omega + b): its dexpinv is that of so(3) on the first slot
and the identity on the second. With the product of the tangent group the printed action is no action.

The generator of (xi, eta_i, beta_i, (A_j, a_j)) is (xi, hat(eta_i) R_i, beta_i, A_j x q_j, A_j x w_j + a_j x q_j).
"""

from __future__ import annotations

from ..core.arguments import count
from ..core.travel import recorded
from .action import Action
from .blocks import product, translate
from .motions import LINK
from .rotations import COLUMNS

_MOST = 10**5


@recorded
def quadrotors_action(n: int) -> Action:
    """The action for n quadrotors and one load."""
    n = count("n", n, most=_MOST)
    load, quadrotor = (translate(3), translate(3)), (COLUMNS, translate(3))
    return Action(
        name=f"R^6 x (SO(3) x R^3)^{n} x SE(3)^{n} on a load with {n} quadrotors",
        group=f"R^6 x (SO(3) x R^3)^{n} x SE(3)^{n}",
        manifold=f"TR^3 x TSO(3)^{n} x (TS^2)^{n}",
        **product(*load, *n * quadrotor, *n * (LINK,)),
    )


TWO_QUADROTORS = quadrotors_action(2)
