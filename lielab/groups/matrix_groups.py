"""Matrix groups given by a basis of their algebra, for readers' own groups; SO(n), SL(n), Sp(2n).

`matrix_group(basis)` finds the structure constants and offers the contract of `lielab.so3` without closed forms:
exp by scaling and squaring, log by a series, after square roots of the real Schur form. `dexpinv_series` cuts
Bernoulli's series anywhere. Cayley needs a quadratic group, {g : g' P g = P}: give `form=P`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..core.arguments import count, function_of, named_array
from ..core.travel import same, sendable
from .batch import ELEMENT_TOLERANCE, LARGEST, Space, axes, bounded, generator, read
from .derived import averaged, interpolated, left, truncated
from .matrix_functions import expm, inverse, log_near_one, logm, near_one

# Residual, relative to size, up to which a matrix counts as an element of the algebra's span.
_SPAN_TOLERANCE = 1e-9
# The same for what is computed from elements, which may be off by ELEMENT_TOLERANCE themselves.
_LOOSE = 10.0 * ELEMENT_TOLERANCE
# Of the logarithm, relative to the element: where Newton's iteration is done, where it has led to the element for all
# that the conditioning lets it, and how far aside it may begin.
_ROUND_OFF, _NEAR, _ASIDE, _TRIES, _NEWTON = 4e-16, 1e-9, 1e-3, 12, 20


class MatrixGroup:
    """A group of real n x n matrices with algebra spanned by `basis` (dim, n, n).

    `form` P (n, n) declares the group quadratic, g' P g = P, and gives Cayley, inverse and project.
    `defect(g) -> number` measures the distance of one matrix from the group, beside the form or in its place;
    without both, any invertible matrix is taken for an element. `nearest(X) -> g` gives `project`.
    Raises ValueError for a basis that is dependent, not closed under brackets, or not of the form's algebra.
    """

    def __init__(
        self,
        basis: Any,
        name: str = "matrix group",
        form: Any = None,
        defect: Callable | None = None,
        nearest: Callable | None = None,
    ) -> None:
        E = named_array("basis", basis)
        if E.ndim != 3 or E.shape[1] != E.shape[2] or not len(E):
            raise ValueError(f"basis must have shape (dim, n, n), got {E.shape}")
        if not bounded(E.reshape(-1)):
            raise ValueError(
                f"basis must be finite and at most {LARGEST:g} in size; remove NaN and inf, or choose other units"
            )
        for what, given in (("defect", defect), ("nearest", nearest)):
            if given is not None:
                function_of(what, given, "g")
        self.basis, self.name, self.dim, self.shape = E, name, len(E), E.shape[1:]
        self._flat = E.reshape(self.dim, -1).T
        if np.linalg.matrix_rank(self._flat) < self.dim:
            raise ValueError(
                f"basis must be linearly independent, got {self.dim} dependent matrices"
            )
        self._pinv = np.linalg.pinv(self._flat)
        self.form = None if form is None else named_array("form", form)
        if self.form is not None:
            if self.form.shape != self.shape:
                raise ValueError(f"form must have shape {self.shape}, got {self.form.shape}")
            off = np.abs(np.swapaxes(E, 1, 2) @ self.form + self.form @ E).max()
            if off > _SPAN_TOLERANCE * np.abs(E).max() * np.abs(self.form).max():
                raise ValueError(
                    f"form does not fit: E'P + P E must vanish on the basis, got {off:.3g}"
                )
        self._defect, self._nearest = defect, nearest
        self._vector, self._matrix = Space((self.dim,)), Space(self.shape)
        products = np.einsum("aij,bjk->abik", E, E)
        self.structure = self._coordinates(
            products - np.swapaxes(products, 0, 1), "the basis is not closed under brackets"
        )
        self.dexp_left, self.dexpinv_left = left(self.dexp), left(self.dexpinv)
        self.dexp_series, self.dexpinv_series = truncated(self.ad)
        if self.form is not None:
            self.dcay_left, self.dcayinv_left = left(self.dcay), left(self.dcayinv)

    def __repr__(self) -> str:
        return f"<group {self.name}>"

    def _data(self) -> tuple:
        return self.basis, self.name, self.form, self._defect, self._nearest

    def __eq__(self, other: object) -> bool:
        return (
            same(self._data(), other._data()) if isinstance(other, MatrixGroup) else NotImplemented
        )

    def __hash__(self) -> int:
        return hash((self.name, self.dim, self.shape))

    def __reduce__(self) -> Any:
        sendable(self.name, {"defect": self._defect, "nearest": self._nearest})
        return MatrixGroup, self._data()

    def __copy__(self) -> MatrixGroup:
        return MatrixGroup(*self._data())

    def __deepcopy__(self, memo: dict) -> MatrixGroup:
        return self.__copy__()

    def _coordinates(
        self, X: np.ndarray, complaint: str, limit: float = _SPAN_TOLERANCE
    ) -> np.ndarray:
        flat = X.reshape(*X.shape[:-2], X.shape[-1] ** 2)
        u = flat @ self._pinv.T
        off = np.abs(u @ self._flat.T - flat).max(initial=0.0)
        if off > limit * (1.0 + np.abs(flat).max(initial=0.0)):
            raise ValueError(
                f"{complaint}: distance {off:.3g} from the span of the basis of {self.name}"
            )
        return u

    def defect(self, g: Any) -> np.ndarray:
        """Distance of matrices (..., n, n) from the group, as far as it is known: shape (...)."""
        g = read("g", g, self._matrix)
        with np.errstate(
            over="ignore", under="ignore"
        ):  # of large entries: not 0, which is all that is asked
            off = np.where(np.linalg.det(g) == 0.0, np.inf, 0.0)
        if self.form is not None:
            form_off = np.abs(np.swapaxes(g, -1, -2) @ self.form @ g - self.form)
            off = np.maximum(off, form_off.max(axis=(-2, -1)))
        if self._defect is not None:
            values = [abs(float(self._defect(one))) for one in g.reshape(-1, *self.shape)]
            off = np.maximum(off, np.array(values).reshape(g.shape[:-2]))
        return off

    def _element(self, name: str, g: Any) -> np.ndarray:
        g = read(name, g, self._matrix)
        worst = float(np.max(self.defect(g), initial=0.0))
        if worst > ELEMENT_TOLERANCE * max(1.0, np.abs(g).max(initial=0.0) ** 2):
            raise ValueError(
                f"{name} is not in {self.name}: defect {worst:.3g}, at most {ELEMENT_TOLERANCE:g} is accepted; "
                f"use project({name}) to move it onto the group"
            )
        return g

    def hat(self, u: Any) -> np.ndarray:
        """sum_k u_k basis_k. Shapes (..., dim) -> (..., n, n)."""
        return np.tensordot(read("u", u, self._vector), self.basis, axes=1)

    def vee(self, X: Any) -> np.ndarray:
        """Coordinates in the basis. (..., n, n) -> (..., dim). ValueError outside its span."""
        return self._coordinates(read("X", X, self._matrix), "X is not in the algebra")

    def exp(self, u: Any) -> np.ndarray:
        """Matrix exponential of hat(u). Shapes (..., dim) -> (..., n, n)."""
        return expm(self.hat(u))

    def log(self, g: Any) -> np.ndarray:
        """Principal logarithm, in coordinates. Shapes (..., n, n) -> (..., dim).

        A half turn goes one of its ways round. Raises ValueError where no logarithm is real, or none in the algebra.
        """
        g = self._element("g", g)
        u = np.empty((*g.shape[:-2], self.dim))
        for index in np.ndindex(g.shape[:-2]):
            u[index] = self._log(g[index])
        return u

    def _log(self, g: np.ndarray) -> np.ndarray:
        """Logarithm of one matrix, by Newton's iteration within the algebra from that of the matrix alone.

        Near half turns the matrix does not tell which way they go: round-off e in it moves its logarithm by
        e/(pi - angle), out of the algebra too. Where there is none, as at a half turn, elements close by may have one.
        """
        if near_one(g):
            X = log_near_one(g)
            return self._coordinates(X, "the logarithm of g is not in the algebra", _LOOSE)
        complaint = None
        aside = np.random.default_rng(0).standard_normal((_TRIES, self.dim))
        for step in np.concatenate([np.zeros((1, self.dim)), _ASIDE * aside]):
            try:
                u, reached = self._newton(self._span(logm(g @ self.exp(step))), g)
            except ValueError as error:
                complaint = complaint or error
            else:
                if reached:
                    return u
        raise complaint or ValueError(f"the logarithm of g is not in the algebra of {self.name}")

    def _span(self, X: np.ndarray) -> np.ndarray:
        """Coordinates of the nearest element of the algebra."""
        return X.reshape(-1) @ self._pinv.T

    def _newton(self, u: np.ndarray, g: np.ndarray) -> tuple[np.ndarray, bool]:
        """exp(u') = exp(u) exp(r) to first order, where exp(r) is what is missing to g; and whether it led there."""
        size = np.abs(g).max()
        off = np.abs(self.exp(u) - g).max()
        for _ in range(_NEWTON):
            if off <= _ROUND_OFF * size:
                return u, True
            rest = self.exp(-u) @ g
            if not near_one(rest):
                break
            r = self._span(log_near_one(rest))
            if (
                off <= _LOOSE * (1.0 + size)
                and np.abs(self.hat(r)).max() <= 1e-3 * np.abs(rest - np.eye(len(g))).max()
            ):
                return u, True  # what is left is no fault of u: g itself is off the group
            try:
                better = u + self.dexpinv(-u) @ r
                left = np.abs(self.exp(better) - g).max()
            except ValueError:
                break
            if not left < off:
                break
            u, off = better, left
        return u, bool(off <= _NEAR * size)

    def Ad(self, g: Any) -> np.ndarray:
        """Matrix of X -> g X g^-1 in coordinates. Shapes (..., n, n) -> (..., dim, dim)."""
        g = self._element("g", g)
        moved = g[..., None, :, :] @ self.basis @ self.inverse(g)[..., None, :, :]
        return np.swapaxes(
            self._coordinates(moved, "g does not preserve the algebra", _LOOSE), -1, -2
        )

    def ad(self, u: Any) -> np.ndarray:
        """Matrix of the bracket with u, from the structure constants. Shapes (..., dim) -> (..., dim, dim)."""
        return np.einsum("...a,abc->...cb", read("u", u, self._vector), self.structure)

    def coAd(self, g: Any) -> np.ndarray:
        """Ad_g' on dual vectors. Shapes (..., n, n) -> (..., dim, dim)."""
        return np.swapaxes(self.Ad(g), -1, -2)

    def coad(self, u: Any) -> np.ndarray:
        """ad_u' on dual vectors. Shapes (..., dim) -> (..., dim, dim)."""
        return np.swapaxes(self.ad(u), -1, -2)

    def bracket(self, u: Any, v: Any) -> np.ndarray:
        """Coordinates of the commutator. Shapes (..., dim), (..., dim) -> (..., dim)."""
        return np.einsum("...ab,...b->...a", self.ad(u), read("v", v, self._vector))

    def dexp(self, u: Any) -> np.ndarray:
        """(e^ad - 1)/ad, from the exponential of [[ad, 1], [0, 0]]. Shapes (..., dim) -> (..., dim, dim)."""
        A = self.ad(u)
        block = np.zeros((*A.shape[:-2], 2 * self.dim, 2 * self.dim))
        block[..., : self.dim, : self.dim] = A
        block[..., : self.dim, self.dim :] = np.eye(self.dim)
        return expm(block)[..., : self.dim, self.dim :]

    def dexpinv(self, u: Any) -> np.ndarray:
        """Inverse of dexp(u) by a linear solve. Raises ValueError where dexp(u) is singular."""
        return inverse(
            self.dexp(u), "dexpinv is not defined here: dexp(u) is singular; use a smaller step"
        )

    def _quadratic(self) -> None:
        if self.form is None:
            raise ValueError(
                f"{self.name} offers no Cayley map: it needs a quadratic group g'P g = P, and on others "
                "(SL(n) for instance) the Cayley map leaves the group; use exp, or give form=P"
            )

    def cay(self, u: Any) -> np.ndarray:
        """(1 - hat(u)/2)^-1 (1 + hat(u)/2). ValueError on groups that are not quadratic, or where singular."""
        self._quadratic()
        X, one = 0.5 * self.hat(u), np.eye(self.shape[0])
        return inverse(one - X, "cay is not defined here: 1 - hat(u)/2 is singular") @ (one + X)

    def cayinv(self, g: Any) -> np.ndarray:
        """2 (g + 1)^-1 (g - 1) in coordinates. ValueError where -1 is an eigenvalue of g."""
        self._quadratic()
        g, one = self._element("g", g), np.eye(self.shape[0])
        X = (
            2.0
            * inverse(g + one, "g has no Cayley coordinates: -1 is an eigenvalue; use log")
            @ (g - one)
        )
        return self._coordinates(X, "the Cayley coordinates of g are not in the algebra", _LOOSE)

    def _sandwich(self, u: Any, invert: bool) -> np.ndarray:
        self._quadratic()
        X, one = 0.5 * self.hat(u), np.eye(self.shape[0])
        first, second = one - X, one + X
        if invert:
            text = "dcay is not defined here: 1 - hat(u)/2 or 1 + hat(u)/2 is singular"
            first, second = inverse(first, text), inverse(second, text)
        moved = first[..., None, :, :] @ self.basis @ second[..., None, :, :]
        return np.swapaxes(self._coordinates(moved, "dcay leaves the algebra"), -1, -2)

    def dcay(self, u: Any) -> np.ndarray:
        """Y -> (1 - X/2)^-1 Y (1 + X/2)^-1 in coordinates. Shapes (..., dim) -> (..., dim, dim)."""
        return self._sandwich(u, invert=True)

    def dcayinv(self, u: Any) -> np.ndarray:
        """Y -> (1 - X/2) Y (1 + X/2) in coordinates. Shapes (..., dim) -> (..., dim, dim)."""
        return self._sandwich(u, invert=False)

    def identity(self, batch: tuple[int, ...] = ()) -> np.ndarray:
        """The unit matrix, shape (*batch, n, n)."""
        return np.broadcast_to(np.eye(self.shape[0]), (*axes(batch), *self.shape)).copy()

    def compose(self, g: Any, h: Any) -> np.ndarray:
        """g h. Shapes (..., n, n), (..., n, n) -> (..., n, n)."""
        return self._element("g", g) @ self._element("h", h)

    def inverse(self, g: Any) -> np.ndarray:
        """g^-1, by P^-1 g' P where there is a form. Shapes (..., n, n) -> (..., n, n)."""
        g = self._element("g", g)
        if self.form is not None:
            return np.linalg.solve(self.form, np.swapaxes(g, -1, -2) @ self.form)
        return inverse(g, "g is singular")

    def random(
        self, rng: np.random.Generator | int | None = None, batch: tuple[int, ...] = ()
    ) -> np.ndarray:
        """exp of standard normal algebra vectors, shape (*batch, n, n): not a uniform distribution."""
        return self.exp(generator(rng).standard_normal((*axes(batch), self.dim)))

    def distance(self, g: Any, h: Any) -> Any:
        """Frobenius norm of g - h: the logarithm of g^-1 h, which other groups measure, need not exist.

        Shapes (..., n, n), (..., n, n) -> (...).
        """
        d = np.linalg.norm(self._element("g", g) - self._element("h", h), axis=(-2, -1))
        return float(d) if d.ndim == 0 else d

    def interpolate(self, g: Any, h: Any, t: Any) -> np.ndarray:
        """g exp(t log(g^-1 h)), with constant body velocity, for any t. Batch axes of g, h and t broadcast.

        ValueError where g^-1 h has no real logarithm; where it has several the principal one.
        """
        return interpolated(self, g, h, t)

    def mean(self, elements: Any, weights: Any = None) -> np.ndarray:
        """The element m with sum_i w_i log(m^-1 g_i) = 0; elements (n, *shape), weights (n,) or equal ones.

        The mean of the group's exponential, invariant under translations from both sides; it exists and is unique
        for elements near to each other. Raises ValueError where a logarithm does not exist or no mean is reached.
        Source: Pennec & Arsigny (2013).
        """
        return averaged(self, elements, weights)

    @property
    def projects(self) -> bool:
        """Whether `project` is offered."""
        return self.form is not None or self._nearest is not None

    def project(self, X: Any) -> np.ndarray:
        """A nearby element: by `nearest`, or by Newton's iteration for g'P g = P. ValueError without both."""
        X = read("X", X, self._matrix)
        if self._nearest is not None:
            values = [self._nearest(one) for one in X.reshape(-1, *self.shape)]
            return np.array(values).reshape(X.shape)
        if self.form is None:
            raise ValueError(
                f"{self.name} offers no project; give nearest= or form= to matrix_group"
            )
        g = X
        for _ in range(60):
            dual = np.linalg.solve(self.form, np.swapaxes(g, -1, -2) @ self.form)
            step = 0.5 * (inverse(dual, "X is singular and has no nearby element") - g)
            g = g + step
            if np.abs(step).max(initial=0.0) <= 1e-15 * np.abs(g).max(initial=1.0):
                break
        if not np.max(self.defect(g), initial=0.0) <= 1e-9:
            raise ValueError(f"X is too far from {self.name}: Newton's iteration did not converge")
        return g


def matrix_group(
    basis: Any,
    name: str = "matrix group",
    form: Any = None,
    defect: Callable | None = None,
    nearest: Callable | None = None,
) -> MatrixGroup:
    """The group whose algebra the matrices in `basis` (dim, n, n) span; see `MatrixGroup`."""
    return MatrixGroup(basis, name, form, defect, nearest)


# The sizes below are bounded: the structure constants of an algebra of dimension d are d^3 numbers, d up to 500.


def _unit(n: int, i: int, j: int) -> np.ndarray:
    E = np.zeros((n, n))
    E[i, j] = 1.0
    return E


def special_orthogonal(n: int) -> MatrixGroup:
    """SO(n): basis E_ji - E_ij for i < j, in lexicographic order (so(3)'s own order is another)."""
    n = count("n", n, 2, 30)
    basis = [_unit(n, j, i) - _unit(n, i, j) for i in range(n) for j in range(i + 1, n)]
    return MatrixGroup(basis, f"SO({n})", np.eye(n), _reflected, _nearest_rotation)


def _nearest_rotation(X: np.ndarray) -> np.ndarray:
    U, s, Vt = np.linalg.svd(X)
    sign = 1.0 if _determinant(U @ Vt) > 0.0 else -1.0
    if s[-2] + sign * s[-1] <= 1e-12 * s[0]:
        raise ValueError("X has no unique nearest rotation")
    U[:, -1] *= sign
    return U @ Vt


def _reflected(g: np.ndarray) -> float:
    """2 for a reflection, which the form lets pass."""
    return 2.0 if _determinant(g) < 0.0 else 0.0


def special_linear(n: int) -> MatrixGroup:
    """SL(n), determinant 1: E_ij for i != j, then E_ii - E_(i+1)(i+1)."""
    n = count("n", n, 2, 22)
    basis = [_unit(n, i, j) for i in range(n) for j in range(n) if i != j]
    basis += [_unit(n, i, i) - _unit(n, i + 1, i + 1) for i in range(n - 1)]
    return MatrixGroup(basis, f"SL({n})", defect=_excess_volume, nearest=_scaled)


def _determinant(g: np.ndarray) -> float:
    """det g, infinite without a warning where it overflows."""
    with np.errstate(over="ignore", under="ignore"):
        return float(np.linalg.det(g))


def _excess_volume(g: np.ndarray) -> float:
    return _determinant(g) - 1.0


def _scaled(X: np.ndarray) -> np.ndarray:
    size, n = max(np.abs(X).max(), 1e-300), len(X)
    sign, logarithm = np.linalg.slogdet(X / size)
    if sign <= 0.0:
        raise ValueError(
            f"X must have a positive determinant to be scaled into SL({n}), got {_determinant(X):.3g}"
        )
    return X / size * np.exp(-logarithm / n)


def symplectic(n: int) -> MatrixGroup:
    """Sp(2n), g' J g = J with J = [[0, 1], [-1, 0]]: blocks [[a, b], [c, -a']] with b, c symmetric."""
    n = count("n", n, 1, 15)
    m = 2 * n
    basis = [_unit(m, i, j) - _unit(m, n + j, n + i) for i in range(n) for j in range(n)]
    for i in range(n):
        for j in range(i, n):
            for a, b in ((0, n), (n, 0)):
                E = _unit(m, a + i, b + j)
                basis.append(E if i == j else E + _unit(m, a + j, b + i))
    J = np.block([[np.zeros((n, n)), np.eye(n)], [-np.eye(n), np.zeros((n, n))]])
    return MatrixGroup(basis, f"Sp({m})", form=J)
