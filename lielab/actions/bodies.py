"""The action for three bodies on ball joints: R0, x, R1, R2 and then p0, p_x, p1, p2 (or velocities in their place).

Algebra vectors are (u_0, a, u_1, u_2; m_0, b, m_1, m_2) in R^24. Body by body it is the left action of T*SO(3) in body
variables, (R exp(-u), exp(u) p + V m); x and p_x are translated.
"""

from __future__ import annotations

from .action import Action
from .blocks import product, translate
from .cotangent import BODY

THREE_BODIES = Action(
    name="T*SO(3)^3 x R^6 on three connected bodies",
    group="T*SO(3)^3 x R^6",
    manifold="T*(SO(3) x R^3 x SO(3) x SO(3))",
    **product(
        BODY.at(0, 0, 12, 30),
        translate(3).at(3, 9),
        BODY.at(6, 12, 18, 36),
        BODY.at(9, 21, 21, 39),
        translate(3).at(15, 33),
        cayley=False,
    ),
)
