"""What a group of matrices keeps, found from a basis of its algebra, and elements brought back onto it.

A bilinear form P with E'P + P E = 0 on the basis is kept, g'P g = P: this is SO(n), Sp(2n), SO(p, q), SU(n) in real
form. A form Q with E Q + Q E' = 0 is kept from the other side, g Q g' = Q: so the rotation in a rigid motion. Where
all traces vanish, det g = 1. An element that round-off has moved, g (1 + e), shows P e + e'P and tr e to first order;
the smallest e that has these is taken off again. As on SO(3) (`core.round_off`), an element that is off by more stays.

A law is one flat array for compiled code: the numbers of forms of the two sides, 1 or 0 for the determinant, then for
each side its forms (k, n, n) and the matrix (n n, conditions) that finds e.
"""

from __future__ import annotations

import numpy as np

from ..core.dense import determinant, transpose_in_place
from ..core.jit import jit

_RANK = 1e-9  # of singular values, relative to the largest
_ROUND_OFF = (
    2e-15  # of one step, for each row and relative to the terms of the sum that should not change
)
_LARGEST = 1e4  # of those terms: from here on the conditions see more round-off than drift


def law(basis: np.ndarray, form: np.ndarray | None = None) -> np.ndarray:
    """The law of the group with this basis (d, n, n); a `form` that is known to be kept comes first."""
    n = basis.shape[1]
    basis = basis / np.abs(basis).max(axis=(1, 2), keepdims=True)
    known = [] if form is None else [form / np.abs(form).max()]
    left, rows = _chosen([*known, *_forms(basis)], np.zeros((0, n * n)), _seen_left)
    right, rows = _chosen(_forms(np.swapaxes(basis, 1, 2)), rows, _seen_right)
    trace, traces = np.eye(n).reshape(1, -1), np.trace(basis, axis1=1, axis2=2)
    tells = _rank(np.concatenate([rows, trace])) > _rank(rows)
    unimodular = tells and np.abs(traces).max() < 1e-14 * n
    parts = [np.array([len(left), len(right), unimodular], dtype=float)]
    for forms, more in ((left, [trace] if unimodular else []), (right, [])):
        seen = [*map(_seen_left, forms), *more]
        parts += [P.ravel() for P in forms]
        if seen:
            parts.append(np.linalg.pinv(np.concatenate(seen), rcond=_RANK).ravel())
    return np.concatenate(parts)


def _forms(basis: np.ndarray) -> list[np.ndarray]:
    """Bilinear forms that are kept: a mixture of all, which often says everything, and each of a basis."""
    d, n, _ = basis.shape
    one, square = np.eye(n), np.zeros((n * n, n * n))
    for E in basis:
        K = np.kron(E.T, one) + np.kron(one, E.T)  # P -> E'P + P E
        square += K.T @ K
    values, vectors = np.linalg.eigh(square)
    null = vectors[:, values < 1e-14 * n * max(values[-1], 1.0)].T
    reduced = _echelon(null).reshape(-1, n, n)
    mixture = [sum(P / (2.0 + k) for k, P in enumerate(reduced))] if len(reduced) > 1 else []
    return [P / np.abs(P).max() for P in [*mixture, *reduced]]


def _echelon(rows: np.ndarray) -> np.ndarray:
    """Rows with the same span in reduced form, whole numbers where they are to round-off."""
    rows = rows.copy()
    for i in range(len(rows)):
        j = int(np.abs(rows[i]).argmax())
        rows[i] /= rows[i, j]
        others = np.arange(len(rows)) != i
        rows[others] -= np.outer(rows[others, j], rows[i])
    near = np.rint(rows)
    return np.where(np.abs(rows - near) < 1e-12, near, rows)


def _chosen(forms: list, rows: np.ndarray, seen: object) -> tuple[list, np.ndarray]:
    """Those forms that tell of some e which the conditions so far (rows) do not see, and all conditions."""
    chosen = []
    for P in forms:
        more = np.concatenate([rows, seen(P)])
        if _rank(more) > _rank(rows):
            chosen.append(P)
            rows = more
    return chosen, rows


def _rank(rows: np.ndarray) -> int:
    return int(np.linalg.matrix_rank(rows, tol=_RANK)) if len(rows) else 0


def _seen_left(P: np.ndarray) -> np.ndarray:
    """The matrix of e -> P e + e'P on flat e."""
    n = len(P)
    units = np.eye(n * n).reshape(-1, n, n)
    return (P @ units + np.swapaxes(units, 1, 2) @ P).reshape(n * n, -1).T


def _seen_right(Q: np.ndarray) -> np.ndarray:
    """The matrix of e -> e Q + Q e' on flat e."""
    n = len(Q)
    units = np.eye(n * n).reshape(-1, n, n)
    return (units @ Q + Q @ np.swapaxes(units, 1, 2)).reshape(n * n, -1).T


@jit
def mend_matrix(g, n, law, at):
    """The n x n matrix g, flat, brought back onto the group whose law begins at entry `at`, in place."""
    left, right, unimodular = int(law[at]), int(law[at + 1]), law[at + 2] > 0.0
    at += 3
    conditions = left * n * n + (1 if unimodular else 0)
    if conditions > 0:
        _take_off(g, n, law, at, left, unimodular)
    if right > 0:
        at += left * n * n + n * n * conditions
        transpose_in_place(g, n)
        _take_off(g, n, law, at, right, False)
        transpose_in_place(g, n)


@jit
def _take_off(g, n, law, at, forms, unimodular):
    """g (1 - e) for the smallest e that explains how far g is off the forms that begin at `at`."""
    conditions = forms * n * n + (1 if unimodular else 0)
    off, W = np.empty(conditions), np.empty(n * n)
    largest, size = 0.0, 1.0
    for k in range(forms):
        P = at + k * n * n
        for i in range(n):
            for j in range(n):
                total = 0.0
                for l in range(n):
                    total += law[P + i * n + l] * g[l * n + j]
                W[i * n + j] = total
        for i in range(n):
            for j in range(n):
                total, terms = -law[P + i * n + j], 0.0
                for l in range(n):
                    term = g[l * n + i] * W[l * n + j]
                    total += term
                    terms += abs(term)
                off[k * n * n + i * n + j] = total
                largest, size = max(largest, abs(total)), max(size, terms)
    if unimodular:
        terms = 1.0
        for i in range(n):
            row = 0.0
            for j in range(n):
                W[i * n + j] = g[i * n + j]
                row += abs(g[i * n + j])
            terms *= row
        size = max(size, terms)
        off[conditions - 1] = determinant(W, n) - 1.0
        largest = max(largest, abs(off[conditions - 1]))
    if largest == 0.0 or size > _LARGEST or not largest < _ROUND_OFF * n * size:
        return
    finder = at + forms * n * n
    for i in range(n * n):
        total = 0.0
        for c in range(conditions):
            total += law[finder + i * conditions + c] * off[c]
        W[i] = total
    moved = np.empty(n)
    for i in range(n):
        for j in range(n):
            total = 0.0
            for l in range(n):
                total += g[i * n + l] * W[l * n + j]
            moved[j] = total
        for j in range(n):
            g[i * n + j] -= moved[j]
