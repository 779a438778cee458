"""Kinds of blocks, of which actions on products are put together, and the kernels made of them.

A product of groups acts on a product of manifolds block by block. A kind of block says how one factor of the group
moves its part of the point; its formulas are written once, for a part that begins anywhere. `product` lays blocks out
one after the other, in the algebra vector u and in the point y alike, and makes the kernels that do all of them.

The kernels of a kind are functions (cay, form, u, i, j, y, k, l, out). The factor's vector begins at u[i], and its
second half, where it has one, at u[j]; its part of the point begins at y[k], and the second half of that at y[l]. Two
more are constants: whether the Cayley map stands for exp, and the form, a number that the kind explains.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from ..core.jit import inner, jit, plain
from ..core.values import cross, store, vec3
from ..groups.factors import dtauinv_se3
from ..groups.rotations import dtauinv_times


class Factor(NamedTuple):
    """A factor of the group: its dimension, the kernels of its algebra (they read v at the places of u), their form.

    `seconds`: where its second half begins, after u[j]; several times where there are several that are alike.
    """

    size: int
    dtauinv: Callable
    bracket: Callable
    form: int = 0
    seconds: tuple[int, ...] = (0,)


class Block(NamedTuple):
    """One factor and the part of the point that it moves.

    `point` and `dimension` are those of the part and of its manifold; `halves` tell where second halves begin, and
    `place`, (i, j, k, l) of this module, where all is, where `product` is not to choose it. `distance`, `nearest`,
    `sample` and `rotations` are those of an `Action` for the part alone.
    """

    factor: Factor
    point: int
    dimension: int | None
    move: Callable
    velocity: Callable
    form: int = 0
    halves: tuple[int, int] = (3, 3)
    distance: Callable | None = None
    nearest: Callable | None = None
    sample: Callable | None = None
    rotations: tuple[tuple[int, int], ...] = ()
    place: tuple[int, int, int, int] | None = None

    def at(self, i: int, k: int, j: int = 0, l: int = 0) -> Block:
        """The same block with u at i and y at k, their second halves at j and l."""
        return self._replace(place=(i, j, k, l))


# --- factors -----------------------------------------------------------------------------------------


@inner
def so3_dtauinv(cay, form, u, i, j, v, k, l, out):
    store(dtauinv_times(cay, vec3(u, i), vec3(v, i)), out, i)


@inner
def so3_bracket(cay, form, u, i, j, v, k, l, out):
    """A x B"""
    store(cross(vec3(u, i), vec3(v, i)), out, i)


@inner
def se3_dtauinv(cay, form, u, i, j, v, k, l, out):
    top, low = dtauinv_se3(cay, vec3(u, i), vec3(u, j), vec3(v, i), vec3(v, j))
    store(top, out, i)
    store(low, out, j)


@inner
def se3_bracket(cay, form, u, i, j, v, k, l, out):
    """[(A, a), (B, b)] = (A x B, A x b - B x a)"""
    A, a, B, b = vec3(u, i), vec3(u, j), vec3(v, i), vec3(v, j)
    store(cross(A, B), out, i)
    store(cross(A, b) - cross(B, a), out, j)


@inner
def same(cay, form, u, i, j, v, k, l, out):
    """v, so many numbers as the form says: dtauinv of an abelian group."""
    for m in range(i, i + form):
        out[m] = v[m]


@inner
def no_bracket(cay, form, u, i, j, v, k, l, out):
    """Zero: an abelian algebra."""
    for m in range(i, i + form):
        out[m] = 0.0


SO3 = Factor(3, so3_dtauinv, so3_bracket)
SE3 = Factor(6, se3_dtauinv, se3_bracket)


# --- points ----------------------------------------------------------------------------------------


def mended(move: Callable, mend: Callable) -> Callable:
    """The kernel of `move`, after which mend(out, k) brings back what round-off has moved off the manifold."""

    @inner
    def kernel(cay, form, u, i, j, y, k, l, out):
        move(cay, form, u, i, j, y, k, l, out)
        mend(out, k)

    return kernel


# --- translations ------------------------------------------------------------------------------------


@inner
def add_numbers(cay, form, u, i, j, y, k, l, out):
    """y + u, so many numbers as the form says."""
    for m in range(form):
        out[k + m] = y[k + m] + u[i + m]


@inner
def take_numbers(cay, form, u, i, j, y, k, l, out):
    """u: the generator of translations."""
    for m in range(form):
        out[k + m] = u[i + m]


def translate(n: int) -> Block:
    """R^n by translation."""
    return Block(Factor(n, same, no_bracket, n), n, n, add_numbers, take_numbers, n)


# --- products ----------------------------------------------------------------------------------------


def _everywhere(
    kernel: Callable, cay: bool, form: int, places: tuple, period: tuple | None
) -> Callable:
    """The function (u, y, out) that does one kind at its places; at one, with a period (in u, in y), over and over."""
    cay, form, i, j, k, l = map(plain, (cay, form, *places[0]))
    table = np.array(places)  # not a tuple, of which compiled code would make a copy
    du, dy = period or (0, 0)

    def once(u, y, out):
        kernel(cay, form, u, i, j, y, k, l, out)

    def several(u, y, out):
        for n in range(len(table)):
            i, j, k, l = table[n, 0], table[n, 1], table[n, 2], table[n, 3]
            kernel(cay, form, u, i, j, y, k, l, out)

    def each(u, y, out):
        for n in range(len(y) // dy):
            kernel(cay, form, u, i + du * n, j + du * n, y, k + dy * n, l + dy * n, out)

    return each if period else several if len(places) > 1 else once


def _together(first: Callable, *more: Callable) -> Callable:
    """The function that does one after the other."""
    if not more:
        return first
    one, others = inner(first), inner(_together(*more))

    def together(u, y, out):
        one(u, y, out)
        others(u, y, out)

    return together


@cache
def _kernel(parts: tuple, period: tuple | None) -> Callable:
    """The kernel of these parts (kernel of a kind, cay, form, places); actions that have it in common share it."""
    return jit(_together(*(_everywhere(*part, period) for part in parts)))


def product(*blocks: Block, each: bool = False, cayley: bool = True) -> dict[str, Any]:
    """What an `Action` of these blocks needs; `each`: all of them, as many times as the point has room for.

    Without `cayley` there are no kernels of the Cayley map.
    """
    laid, size, point = [], 0, 0
    for block in blocks:
        (i, k), (half_u, half_y) = (size, point), block.halves
        laid.append(block if block.place else block.at(i, k, i + half_u, k + half_y))
        size, point = size + block.factor.size, point + block.point

    def made(name: str, cay: bool = False) -> Callable:
        moves = name in ("move", "velocity")
        places: dict[tuple, tuple] = {}
        for block in laid:
            own, (i, j, k, l) = block if moves else block.factor, block.place
            kind = getattr(own, name), cay, own.form
            at = [(i, j, k, l)] if moves else [(i, j + s, i, j + s) for s in own.seconds]
            places[kind] = (*places.get(kind, ()), *at)
        parts = [(*kind, at) for kind, at in places.items()]
        if not each:
            return _kernel(tuple(parts), None)
        parts = [(*kind, (one,)) for *kind, at in parts for one in at]
        return _kernel(tuple(parts), (size, point if moves else size))

    dimensions = [block.dimension for block in laid]
    kernels = {
        "exp_act": made("move"),
        "generator": made("velocity"),
        "dexpinv": made("dtauinv"),
        "bracket": made("bracket"),
    }
    if cayley:
        kernels |= {"cay_act": made("move", True), "dcayinv": made("dtauinv", True)}
    return {
        "algebra": size,
        "point": point,
        "dimension": None if None in dimensions else sum(dimensions),
        "blocks": each,
        **kernels,
        **_manifold(laid, point, each),
    }


def _manifold(laid: list[Block], point: int, each: bool) -> dict[str, Any]:
    """distance, nearest, sample and rotations of the blocks together; of one block its own."""
    if len(laid) == 1:
        (one,) = laid
        return {name: getattr(one, name) for name in ("distance", "nearest", "sample", "rotations")}

    def part(y: np.ndarray, block: Block) -> np.ndarray:
        """Its part of y; the first half where the second is elsewhere."""
        (_, _, k, l), half = block.place, block.halves[1]
        return y[..., k : k + (block.point if l == k + half else half)]

    curved = [block for block in laid if block.distance]
    mended = [block for block in laid if block.nearest]

    def distance(y: np.ndarray) -> np.ndarray:
        if each:
            y = y.reshape(*y.shape[:-1], -1, point)
        found = np.maximum.reduce([block.distance(part(y, block)) for block in curved])
        return found.max(axis=-1) if each else found

    def nearest(y: np.ndarray) -> np.ndarray:
        near = y.reshape(*y.shape[:-1], -1, point).copy() if each else y.copy()
        for block in mended:
            part(near, block)[...] = block.nearest(part(near, block))
        return near.reshape(y.shape)

    def sample(rng: np.random.Generator) -> np.ndarray:
        y = rng.standard_normal(point)
        for block in curved:
            at = part(y, block)
            at[...] = block.sample(rng)[: len(at)]
        return y

    turned = [(block.place[2], first, row) for block in laid for first, row in block.rotations]
    return {
        "distance": distance if curved else None,
        "nearest": nearest if mended else None,
        "sample": sample if curved else None,
        "rotations": tuple((k + first, row) for k, first, row in turned),
    }
