"""T*SO(3) = SO(3) x so(3)*, the semidirect product. Elements: tuples (Q, mu); algebra vectors (u, m), (6,).

(g, mu)(h, nu) = (g h, mu + Ad*_{g^-1} nu) = (g h, mu + g nu): celledoni (11), printed without the inverse, which
is not associative. mu is the momentum trivialised by right translation, in space. On SO(3) Ad*_{g^-1} = g = Ad_g,
so the tangent group TSO(3), (g, b)(h, c) = (g h, b + Ad_g c), is the same group: and both are SE(3) with other
names for the entries. The *direct* product SO(3) x R^3, the group of the quadrotors, is `lielab.direct_tso3`.

Contract and conventions as in `lielab.so3`; every function accepts leading batch axes in both entries.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from . import se3, so3
from .batch import axes, read

# The algebra is that of SE(3).
hat, vee, bracket, ad, coad = se3.hat, se3.vee, se3.bracket, se3.ad, se3.coad
dexp, dexpinv, dcay, dcayinv = se3.dexp, se3.dexpinv, se3.dcay, se3.dcayinv
dexp_left, dexpinv_left = se3.dexp_left, se3.dexpinv_left
dcay_left, dcayinv_left = se3.dcay_left, se3.dcayinv_left
dexp_series, dexpinv_series = se3.dexp_series, se3.dexpinv_series

name = "T*SO(3)"
dim = 6
shape = ((3, 3), (3,))


def _join(name: str, g: Any) -> np.ndarray:
    if not isinstance(g, (tuple, list)) or len(g) != 2:
        raise ValueError(
            f"{name} must be a tuple (Q, mu), got {type(g).__name__}; matrices 4x4 belong to lielab.se3"
        )
    return se3.from_parts(read(f"{name}[0]", g[0], so3.ELEMENT), read(f"{name}[1]", g[1], so3.DUAL))


def _split(g: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    return g[..., :3, :3].copy(), g[..., :3, 3].copy()


def exp(u: Any) -> tuple:
    """(exp(u), V m) with V = dexp_u. Shapes (..., 6) -> ((..., 3, 3), (..., 3))."""
    return _split(se3.exp(u))


def log(g: Any) -> np.ndarray:
    """Inverse of exp, |u| at most pi. Shapes ((..., 3, 3), (..., 3)) -> (..., 6)."""
    return se3.log(_join("g", g))


def cay(u: Any) -> tuple:
    """Cayley map of the 4x4 matrices. Shapes (..., 6) -> ((..., 3, 3), (..., 3))."""
    return _split(se3.cay(u))


def cayinv(g: Any) -> np.ndarray:
    """Inverse of cay. ValueError for rotations by pi."""
    return se3.cayinv(_join("g", g))


def Ad(g: Any) -> np.ndarray:
    """Ad_(Q, mu) (v, n) = (Q v, Q n + mu x Q v) as a matrix, (..., 6, 6)."""
    return se3.Ad(_join("g", g))


def coAd(g: Any) -> np.ndarray:
    """Ad_g' on dual vectors, (..., 6, 6)."""
    return se3.coAd(_join("g", g))


def identity(batch: tuple[int, ...] = ()) -> tuple:
    """(1, 0), repeated over the batch axes asked for."""
    return so3.identity(batch), np.zeros((*axes(batch), 3))


def compose(g: Any, h: Any) -> tuple:
    """(g, mu)(h, nu) = (g h, mu + g nu)."""
    return _split(se3.compose(_join("g", g), _join("h", h)))


def inverse(g: Any) -> tuple:
    """(Q', -Q' mu)."""
    return _split(se3.inverse(_join("g", g)))


def random(rng: np.random.Generator | int | None = None, batch: tuple[int, ...] = ()) -> tuple:
    """Haar rotations and standard normal momenta."""
    return _split(se3.random(rng, batch))


def distance(g: Any, h: Any) -> Any:
    """sqrt(angle^2 + |mu - nu|^2), invariant under products from the left; units count as given."""
    return se3.distance(_join("g", g), _join("h", h))


def project(g: Any) -> tuple:
    """Nearest rotation, the momentum kept."""
    if not isinstance(g, (tuple, list)) or len(g) != 2:
        raise ValueError(f"g must be a pair (rotation, momentum), got {g!r}")
    return so3.project(g[0]), read("g[1]", g[1], so3.DUAL).copy()


def interpolate(g: Any, h: Any, t: Any) -> tuple:
    """g exp(t log(g^-1 h)) as on SE(3), for any t. Batch axes of g, h and t broadcast."""
    return _split(se3.interpolate(_join("g", g), _join("h", h), t))


def mean(elements: Any, weights: Any = None) -> tuple:
    """The mean of SE(3); elements a tuple of rotations (n, 3, 3) and momenta (n, 3), weights (n,) or equal ones."""
    return _split(se3.mean(_join("elements", elements), weights))
